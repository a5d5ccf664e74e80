;; Counts its calls in a global and in memory, and denies from the second one on.
;;; functions
(global $calls (mut i32) (i32.const 0))
;;; data
(data (i32.const 1024) "I have seen you before")
;;; point
(if (i32.or (global.get $calls) (i32.load (i32.const 2048)))
  (then (return (call $answer (i32.const 1) (i32.const 1024) (i32.const 22)))))
(global.set $calls (i32.const 1))
(i32.store (i32.const 2048) (i32.const 1))
(call $proceed)
