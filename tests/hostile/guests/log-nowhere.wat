;; Logs a line that lies outside its memory.
;;; point
(call $log (i32.const 1) (i32.const 0x7ffffff0) (i32.const 100))
(call $proceed)
