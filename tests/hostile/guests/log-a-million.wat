;; Logs a million lines.
;;; point
(local $count i32)
(loop $again
  (call $log (i32.const 1) (i32.const 1024) (i32.const 8))
  (local.set $count (i32.add (local.get $count) (i32.const 1)))
  (br_if $again (i32.lt_u (local.get $count) (i32.const 1000000))))
(call $proceed)
