;; Denies with a text that is said to have 4 GiB.
;;; point
(call $answer (i32.const 1) (i32.const 1024) (i32.const -1))
