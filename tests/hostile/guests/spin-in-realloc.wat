;; Computes for ever when the host asks for room for the arguments.
;;; realloc
(loop $again (br $again))
(unreachable)
