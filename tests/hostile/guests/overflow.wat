;; Divides the smallest number by minus one.
;;; point
(drop (i32.div_s (i32.const 0x80000000) (i32.const -1)))
(call $proceed)
