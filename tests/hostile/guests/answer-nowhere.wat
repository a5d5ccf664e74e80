;; Says that its answer stands beyond its memory.
;;; point
(i32.const 0x7ffffff0)
