;; Gives the host room at an odd address.
;;; realloc
(i32.const 65537)
