;; Computes for ever.
;;; point
(loop $again (br $again))
(unreachable)
