;; Looks at all of its memory for anything that it did not write, and denies when there is.
;;; memory
(memory (export "memory") 512)
;;; data
(data (i32.const 1024) "something was left here")
;;; point
(local $at i32)
(local.set $at (i32.const 1048576))
(loop $again
  (if (i64.ne (i64.load (local.get $at)) (i64.const 0))
    (then (return (call $answer (i32.const 1) (i32.const 1024) (i32.const 23)))))
  (local.set $at (i32.add (local.get $at) (i32.const 8)))
  (br_if $again (i32.lt_u (local.get $at) (i32.const 33554432))))
(memory.fill (i32.const 1048576) (i32.const 0xaa) (i32.const 32505856))
(call $proceed)
