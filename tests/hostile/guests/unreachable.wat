;; Stops by itself, as a panic does.
;;; point
(unreachable)
