;; Gives the host room beyond its memory for the arguments.
;;; realloc
(i32.const 0x7ffffff0)
