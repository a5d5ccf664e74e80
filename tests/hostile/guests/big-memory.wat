;; Wants a hundred megabytes from the start.
;;; memory
(memory (export "memory") 1600)
