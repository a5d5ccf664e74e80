;; Answers two megabytes, all of them there.
;;; memory
(memory (export "memory") 64)
;;; point
(memory.fill (i32.const 262144) (i32.const 97) (i32.const 2097152))
(call $answer (i32.const 1) (i32.const 262144) (i32.const 2097152))
