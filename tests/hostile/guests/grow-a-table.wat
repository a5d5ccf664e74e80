;; Grows a table for ever.
;;; functions
(table $refs 1 funcref)
;;; point
(loop $again
  (drop (table.grow $refs (ref.null func) (i32.const 1000)))
  (br $again))
(unreachable)
