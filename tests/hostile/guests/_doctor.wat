;; The probe that ships with the package: what it does is said by the first letter of the interceptor's name.
;; Printed as a component into runtime/orrery_interceptors/doctor/probe.wat; a test holds the two together.
;;; memory
(memory (export "memory") 64)
;;; data
(data (i32.const 1024) "a line")
;;; functions
(global $calls (mut i32) (i32.const 0))
(func $down (param i32) (result i32) (i32.add (i32.const 1) (call $down (local.get 0))))
;;; point
(local $letter i32) (local $count i32)
(local.set $letter (i32.load8_u (i32.load (local.get $arguments))))
;; d: computes for ever
(if (i32.eq (local.get $letter) (i32.const 100)) (then (loop $again (br $again))))
;; f: computes for ever, for the fuel
(if (i32.eq (local.get $letter) (i32.const 102)) (then (loop $again (br $again))))
;; m: takes memory until there is no more, and denies with a text as long as what it got, in pages
(if (i32.eq (local.get $letter) (i32.const 109))
  (then
    (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (return (call $answer (i32.const 1) (i32.const 65536) (memory.size)))))
;; s: recurses for ever
(if (i32.eq (local.get $letter) (i32.const 115)) (then (drop (call $down (i32.const 0)))))
;; o: answers two megabytes
(if (i32.eq (local.get $letter) (i32.const 111))
  (then (return (call $answer (i32.const 1) (i32.const 65536) (i32.const 2097152)))))
;; l: logs a thousand lines
(if (i32.eq (local.get $letter) (i32.const 108))
  (then
    (loop $again
      (call $log (i32.const 0) (i32.const 1024) (i32.const 6))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $count) (i32.const 1000))))))
;; i: denies when it was called before
(if (i32.eq (local.get $letter) (i32.const 105))
  (then
    (if (global.get $calls) (then (return (call $answer (i32.const 1) (i32.const 1024) (i32.const 6)))))
    (if (i32.load (i32.const 2048)) (then (return (call $answer (i32.const 1) (i32.const 1024) (i32.const 6)))))
    (global.set $calls (i32.const 1))
    (i32.store (i32.const 2048) (i32.const 1))))
(call $proceed)
