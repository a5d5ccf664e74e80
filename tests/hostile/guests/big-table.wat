;; Wants a table of a million elements from the start.
;;; functions
(table $refs 1000000 funcref)
