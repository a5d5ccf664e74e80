;; Denies with a text that lies outside its memory.
;;; point
(call $answer (i32.const 1) (i32.const 0x7ff00000) (i32.const 10))
