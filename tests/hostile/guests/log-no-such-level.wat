;; Logs at a level that there is not.
;;; point
(call $log (i32.const 77) (i32.const 1024) (i32.const 4))
(call $proceed)
