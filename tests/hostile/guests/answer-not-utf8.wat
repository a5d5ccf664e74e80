;; Denies with bytes that are no text.
;;; data
(data (i32.const 1024) "\ff\fe\c0\80")
;;; point
(call $answer (i32.const 1) (i32.const 1024) (i32.const 4))
