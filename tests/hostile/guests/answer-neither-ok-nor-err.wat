;; Answers a result that is neither ok nor err.
;;; point
(i32.store8 (i32.const 256) (i32.const 7))
(i32.const 256)
