;; Logs a hundred lines of a megabyte.
;;; memory
(memory (export "memory") 32)
;;; point
(local $count i32)
(memory.fill (i32.const 131072) (i32.const 97) (i32.const 1048576))
(loop $again
  (call $log (i32.const 3) (i32.const 131072) (i32.const 1048576))
  (local.set $count (i32.add (local.get $count) (i32.const 1)))
  (br_if $again (i32.lt_u (local.get $count) (i32.const 100))))
(call $proceed)
