;; Calls through an empty place of a table.
;;; functions
(table $refs 1 funcref)
(type $nothing (func))
;;; point
(call_indirect $refs (type $nothing) (i32.const 0))
(call $proceed)
