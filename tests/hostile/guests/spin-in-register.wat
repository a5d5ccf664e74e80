;; Computes for ever while it registers.
;;; register
(loop $again (br $again))
(unreachable)
