;; Denies with half of a surrogate pair, written as UTF-8 does not allow.
;;; data
(data (i32.const 1024) "\ed\a0\80")
;;; point
(call $answer (i32.const 1) (i32.const 1024) (i32.const 3))
