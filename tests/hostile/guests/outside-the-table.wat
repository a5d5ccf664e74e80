;; Calls through a place that the table does not have.
;;; functions
(table $refs 1 funcref)
(type $nothing (func))
;;; point
(call_indirect $refs (type $nothing) (i32.const 99))
(call $proceed)
