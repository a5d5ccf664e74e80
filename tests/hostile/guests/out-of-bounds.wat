;; Reads beyond its memory.
;;; point
(drop (i32.load (i32.const 0x7ffffff0)))
(call $proceed)
