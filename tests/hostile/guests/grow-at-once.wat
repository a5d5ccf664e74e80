;; Asks for two gigabytes, and needs them.
;;; point
(if (i32.eq (memory.grow (i32.const 32768)) (i32.const -1)) (then (unreachable)))
(call $proceed)
