;; Says that its answer stands at an odd address.
;;; point
(i32.const 257)
