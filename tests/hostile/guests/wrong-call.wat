;; Calls a function by another type than it has.
;;; functions
(table $refs funcref (elem $proceed))
(type $nothing (func))
;;; point
(call_indirect $refs (type $nothing) (i32.const 0))
(call $proceed)
