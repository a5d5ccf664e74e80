;; Makes a whole number of what is none.
;;; point
(drop (i32.trunc_f64_s (f64.const nan)))
(call $proceed)
