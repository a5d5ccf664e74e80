;; Computes for ever while it is instantiated.
;;; functions
(func $start (loop $again (br $again)))
(start $start)
