;; What every hostile guest shares: the exports of the world, a small memory, and ways to answer.
;; A guest is this module with its own lines in place of those between `;;; NAME` and `;;; end`.
(module
  (import "orrery:interceptors/log@1.0.0" "write" (func $log (param $level i32) (param $at i32) (param $length i32)))

  ;;; memory
  (memory (export "memory") 2)
  ;;; end

  ;;; data
  ;;; end

  ;; ---- answers: written at 256, texts at 1024 ----
  (func $proceed (result i32)
    (i32.store8 (i32.const 256) (i32.const 0))
    (i32.store8 (i32.const 260) (i32.const 0))
    (i32.const 256))
  ;; result::ok(case(text))
  (func $answer (param $case i32) (param $at i32) (param $length i32) (result i32)
    (i32.store8 (i32.const 256) (i32.const 0))
    (i32.store8 (i32.const 260) (local.get $case))
    (i32.store (i32.const 264) (local.get $at))
    (i32.store (i32.const 268) (local.get $length))
    (i32.const 256))
  ;; result::err(text)
  (func $fail (param $at i32) (param $length i32) (result i32)
    (i32.store8 (i32.const 256) (i32.const 1))
    (i32.store (i32.const 260) (local.get $at))
    (i32.store (i32.const 264) (local.get $length))
    (i32.const 256))

  ;; ---- what the guest does ----
  ;;; functions
  ;;; end

  ;; ---- the world ----
  (func (export "orrery:interceptors/extension@1.0.0#register") (param $at i32) (param $length i32) (result i32)
    ;;; register
    ;; By default: the settings are the registration.
    (i32.store8 (i32.const 256) (i32.const 0))
    (i32.store (i32.const 260) (local.get $at))
    (i32.store (i32.const 264) (local.get $length))
    (i32.const 256)
    ;;; end
  )
  (func $point (param $arguments i32) (result i32)
    ;;; point
    (call $proceed)
    ;;; end
  )
  (export "orrery:interceptors/extension@1.0.0#tool-before" (func $point))
  (export "orrery:interceptors/extension@1.0.0#tool-after" (func $point))
  (export "orrery:interceptors/extension@1.0.0#context-build" (func $point))
  (export "orrery:interceptors/extension@1.0.0#memory-recall" (func $point))
  (export "orrery:interceptors/extension@1.0.0#provider-before" (func $point))
  (func (export "orrery:interceptors/extension@1.0.0#watch") (param i32 i32 i32 i32 i32 i32))

  (global $free (mut i32) (i32.const 65536))
  (func (export "cabi_realloc") (param $old i32) (param $old-size i32) (param $align i32) (param $size i32) (result i32)
    ;;; realloc
    ;; Takes what is needed from the end, and grows.
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
    (global.set $free (i32.add (local.get $at) (local.get $size)))
    (block $room
      (br_if $room (i32.le_u (global.get $free) (i32.mul (memory.size) (i32.const 65536))))
      (drop (memory.grow (i32.add (i32.const 1) (i32.div_u (local.get $size) (i32.const 65536))))))
    (local.get $at)
    ;;; end
  )
)
