(component
  (type $ty-orrery:interceptors/log@1.0.0 (;0;)
    (instance
      (type (;0;) (enum "debug" "info" "warn" "error"))
      (export (;1;) "level" (type (eq 0)))
      (type (;2;) (func (param "level" 1) (param "message" string)))
      (export (;0;) "write" (func (type 2)))
    )
  )
  (import "orrery:interceptors/log@1.0.0" (instance $orrery:interceptors/log@1.0.0 (;0;) (type $ty-orrery:interceptors/log@1.0.0)))
  (core module $main (;0;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (result i32)))
    (type (;2;) (func (param i32 i32 i32) (result i32)))
    (type (;3;) (func (param i32 i32) (result i32)))
    (type (;4;) (func (param i32) (result i32)))
    (type (;5;) (func (param i32 i32 i32 i32 i32 i32)))
    (type (;6;) (func (param i32 i32 i32 i32) (result i32)))
    (import "orrery:interceptors/log@1.0.0" "write" (func $log (;0;) (type 0) (param $level i32) (param $at i32) (param $length i32)))
    (memory (;0;) 64)
    (global $calls (;0;) (mut i32) i32.const 0)
    (global $free (;1;) (mut i32) i32.const 65536)
    (export "memory" (memory 0))
    (export "orrery:interceptors/extension@1.0.0#register" (func 5))
    (export "orrery:interceptors/extension@1.0.0#tool-before" (func $point))
    (export "orrery:interceptors/extension@1.0.0#tool-after" (func $point))
    (export "orrery:interceptors/extension@1.0.0#context-build" (func $point))
    (export "orrery:interceptors/extension@1.0.0#memory-recall" (func $point))
    (export "orrery:interceptors/extension@1.0.0#provider-before" (func $point))
    (export "orrery:interceptors/extension@1.0.0#watch" (func 7))
    (export "cabi_realloc" (func 8))
    (func $proceed (;1;) (type 1) (result i32)
      i32.const 256
      i32.const 0
      i32.store8
      i32.const 260
      i32.const 0
      i32.store8
      i32.const 256
    )
    (func $answer (;2;) (type 2) (param $case i32) (param $at i32) (param $length i32) (result i32)
      i32.const 256
      i32.const 0
      i32.store8
      i32.const 260
      local.get $case
      i32.store8
      i32.const 264
      local.get $at
      i32.store
      i32.const 268
      local.get $length
      i32.store
      i32.const 256
    )
    (func $fail (;3;) (type 3) (param $at i32) (param $length i32) (result i32)
      i32.const 256
      i32.const 1
      i32.store8
      i32.const 260
      local.get $at
      i32.store
      i32.const 264
      local.get $length
      i32.store
      i32.const 256
    )
    (func $down (;4;) (type 4) (param i32) (result i32)
      i32.const 1
      local.get 0
      call $down
      i32.add
    )
    (func (;5;) (type 3) (param $at i32) (param $length i32) (result i32)
      i32.const 256
      i32.const 0
      i32.store8
      i32.const 260
      local.get $at
      i32.store
      i32.const 264
      local.get $length
      i32.store
      i32.const 256
    )
    (func $point (;6;) (type 4) (param $arguments i32) (result i32)
      (local $letter i32) (local $count i32)
      local.get $arguments
      i32.load
      i32.load8_u
      local.set $letter
      local.get $letter
      i32.const 100
      i32.eq
      if ;; label = @1
        loop $again
          br $again
        end
      end
      local.get $letter
      i32.const 102
      i32.eq
      if ;; label = @1
        loop $again
          br $again
        end
      end
      local.get $letter
      i32.const 109
      i32.eq
      if ;; label = @1
        loop $again
          i32.const 1
          memory.grow
          i32.const -1
          i32.ne
          br_if $again
        end
        i32.const 1
        i32.const 65536
        memory.size
        call $answer
        return
      end
      local.get $letter
      i32.const 115
      i32.eq
      if ;; label = @1
        i32.const 0
        call $down
        drop
      end
      local.get $letter
      i32.const 111
      i32.eq
      if ;; label = @1
        i32.const 1
        i32.const 65536
        i32.const 2097152
        call $answer
        return
      end
      local.get $letter
      i32.const 108
      i32.eq
      if ;; label = @1
        loop $again
          i32.const 0
          i32.const 1024
          i32.const 6
          call $log
          local.get $count
          i32.const 1
          i32.add
          local.set $count
          local.get $count
          i32.const 1000
          i32.lt_u
          br_if $again
        end
      end
      local.get $letter
      i32.const 105
      i32.eq
      if ;; label = @1
        global.get $calls
        if ;; label = @2
          i32.const 1
          i32.const 1024
          i32.const 6
          call $answer
          return
        end
        i32.const 2048
        i32.load
        if ;; label = @2
          i32.const 1
          i32.const 1024
          i32.const 6
          call $answer
          return
        end
        i32.const 1
        global.set $calls
        i32.const 2048
        i32.const 1
        i32.store
      end
      call $proceed
    )
    (func (;7;) (type 5) (param i32 i32 i32 i32 i32 i32))
    (func (;8;) (type 6) (param $old i32) (param $old-size i32) (param $align i32) (param $size i32) (result i32)
      (local $at i32)
      global.get $free
      i32.const 7
      i32.add
      i32.const -8
      i32.and
      local.set $at
      local.get $at
      local.get $size
      i32.add
      global.set $free
      block $room
        global.get $free
        memory.size
        i32.const 65536
        i32.mul
        i32.le_u
        br_if $room
        i32.const 1
        local.get $size
        i32.const 65536
        i32.div_u
        i32.add
        memory.grow
        drop
      end
      local.get $at
    )
    (data (;0;) (i32.const 1024) "a line")
    (@producers
      (processed-by "wit-component" "0.262.0")
    )
  )
  (core module $wit-component-shim-module (;1;)
    (type (;0;) (func (param i32 i32 i32)))
    (table (;0;) 1 1 funcref)
    (export "0" (func $indirect-orrery:interceptors/log@1.0.0-write))
    (export "$imports" (table 0))
    (func $indirect-orrery:interceptors/log@1.0.0-write (;0;) (type 0) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 0
      call_indirect (type 0)
    )
    (@producers
      (processed-by "wit-component" "0.262.0")
    )
  )
  (core instance $wit-component-shim-instance (;0;) (instantiate $wit-component-shim-module))
  (type (;1;) string)
  (type (;2;) (option string))
  (type (;3;) (record (field "session" string) (field "turn" u32) (field "pass" u32) (field "agent" string) (field "call-id" 2)))
  (type (;4;) (record (field "tool" string) (field "input" 1)))
  (type (;5;) (variant (case "proceed") (case "deny" string) (case "rewrite" 1) (case "handled" 1)))
  (type (;6;) (record (field "tool" string) (field "input" 1) (field "outcome" 1)))
  (type (;7;) (variant (case "proceed") (case "deny" string) (case "rewrite" 1)))
  (type (;8;) (option u64))
  (type (;9;) (record (field "sections" 1) (field "recalled" 1) (field "messages" 1) (field "budget-tokens" 8)))
  (type (;10;) (variant (case "proceed") (case "rewrite" 1)))
  (type (;11;) (record (field "query" string) (field "entries" 1)))
  (type (;12;) (variant (case "proceed") (case "deny" string) (case "rewrite" 1)))
  (type (;13;) (record (field "model" string) (field "options" 1)))
  (type (;14;) (variant (case "proceed") (case "deny" string) (case "rewrite" 1)))
  (alias core export $wit-component-shim-instance "0" (core func $indirect-orrery:interceptors/log@1.0.0-write (;0;)))
  (core instance $orrery:interceptors/log@1.0.0 (;1;)
    (export "write" (func $indirect-orrery:interceptors/log@1.0.0-write))
  )
  (core instance $main (;2;) (instantiate $main
      (with "orrery:interceptors/log@1.0.0" (instance $orrery:interceptors/log@1.0.0))
    )
  )
  (alias core export $main "memory" (core memory $memory (;0;)))
  (core module $wit-component-fixup (;2;)
    (type (;0;) (func (param i32 i32 i32)))
    (import "actual" "0" (func $0 (;0;) (type 0) (param i32 i32 i32)))
    (import "shim" "$imports" (table (;0;) 1 1 funcref))
    (elem (;0;) (i32.const 0) func $0)
    (@producers
      (processed-by "wit-component" "0.262.0")
    )
  )
  (alias export $orrery:interceptors/log@1.0.0 "write" (func $write (;0;)))
  (core func $"#core-func1 indirect-orrery:interceptors/log@1.0.0-write" (@name "indirect-orrery:interceptors/log@1.0.0-write") (;1;) (canon lower (func $write) (memory $memory) string-encoding=utf8))
  (core instance $actual (;3;)
    (export "0" (func $"#core-func1 indirect-orrery:interceptors/log@1.0.0-write"))
  )
  (core instance $fixup (;4;) (instantiate $wit-component-fixup
      (with "actual" (instance $actual))
      (with "shim" (instance $wit-component-shim-instance))
    )
  )
  (type (;15;) (result 1 (error string)))
  (type (;16;) (func (param "settings" 1) (result 15)))
  (alias core export $main "orrery:interceptors/extension@1.0.0#register" (core func $orrery:interceptors/extension@1.0.0#register (;2;)))
  (alias core export $main "cabi_realloc" (core func $cabi_realloc (;3;)))
  (func $register (;1;) (type 16) (canon lift (core func $orrery:interceptors/extension@1.0.0#register) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (type (;17;) (result 5 (error string)))
  (type (;18;) (func (param "interceptor" string) (param "settings" 1) (param "at" 3) (param "payload" 4) (result 17)))
  (alias core export $main "orrery:interceptors/extension@1.0.0#tool-before" (core func $orrery:interceptors/extension@1.0.0#tool-before (;4;)))
  (func $tool-before (;2;) (type 18) (canon lift (core func $orrery:interceptors/extension@1.0.0#tool-before) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (type (;19;) (result 7 (error string)))
  (type (;20;) (func (param "interceptor" string) (param "settings" 1) (param "at" 3) (param "payload" 6) (result 19)))
  (alias core export $main "orrery:interceptors/extension@1.0.0#tool-after" (core func $orrery:interceptors/extension@1.0.0#tool-after (;5;)))
  (func $tool-after (;3;) (type 20) (canon lift (core func $orrery:interceptors/extension@1.0.0#tool-after) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (type (;21;) (result 10 (error string)))
  (type (;22;) (func (param "interceptor" string) (param "settings" 1) (param "at" 3) (param "payload" 9) (result 21)))
  (alias core export $main "orrery:interceptors/extension@1.0.0#context-build" (core func $orrery:interceptors/extension@1.0.0#context-build (;6;)))
  (func $context-build (;4;) (type 22) (canon lift (core func $orrery:interceptors/extension@1.0.0#context-build) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (type (;23;) (result 12 (error string)))
  (type (;24;) (func (param "interceptor" string) (param "settings" 1) (param "at" 3) (param "payload" 11) (result 23)))
  (alias core export $main "orrery:interceptors/extension@1.0.0#memory-recall" (core func $orrery:interceptors/extension@1.0.0#memory-recall (;7;)))
  (func $memory-recall (;5;) (type 24) (canon lift (core func $orrery:interceptors/extension@1.0.0#memory-recall) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (type (;25;) (result 14 (error string)))
  (type (;26;) (func (param "interceptor" string) (param "settings" 1) (param "at" 3) (param "payload" 13) (result 25)))
  (alias core export $main "orrery:interceptors/extension@1.0.0#provider-before" (core func $orrery:interceptors/extension@1.0.0#provider-before (;8;)))
  (func $provider-before (;6;) (type 26) (canon lift (core func $orrery:interceptors/extension@1.0.0#provider-before) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (type (;27;) (func (param "watcher" string) (param "settings" 1) (param "event" 1)))
  (alias core export $main "orrery:interceptors/extension@1.0.0#watch" (core func $orrery:interceptors/extension@1.0.0#watch (;9;)))
  (func $watch (;7;) (type 27) (canon lift (core func $orrery:interceptors/extension@1.0.0#watch) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (component $orrery:interceptors/extension@1.0.0-shim-component (;0;)
    (type (;0;) string)
    (import "import-type-json" (type (;1;) (eq 0)))
    (type (;2;) (result 1 (error string)))
    (type (;3;) (func (param "settings" 1) (result 2)))
    (import "import-func-register" (func (;0;) (type 3)))
    (type (;4;) (option string))
    (type (;5;) (record (field "session" string) (field "turn" u32) (field "pass" u32) (field "agent" string) (field "call-id" 4)))
    (import "import-type-site" (type (;6;) (eq 5)))
    (type (;7;) (record (field "tool" string) (field "input" 1)))
    (import "import-type-tool-before-payload" (type (;8;) (eq 7)))
    (type (;9;) (variant (case "proceed") (case "deny" string) (case "rewrite" 1) (case "handled" 1)))
    (import "import-type-tool-before-verdict" (type (;10;) (eq 9)))
    (type (;11;) (result 10 (error string)))
    (type (;12;) (func (param "interceptor" string) (param "settings" 1) (param "at" 6) (param "payload" 8) (result 11)))
    (import "import-func-tool-before" (func (;1;) (type 12)))
    (type (;13;) (record (field "tool" string) (field "input" 1) (field "outcome" 1)))
    (import "import-type-tool-after-payload" (type (;14;) (eq 13)))
    (type (;15;) (variant (case "proceed") (case "deny" string) (case "rewrite" 1)))
    (import "import-type-tool-after-verdict" (type (;16;) (eq 15)))
    (type (;17;) (result 16 (error string)))
    (type (;18;) (func (param "interceptor" string) (param "settings" 1) (param "at" 6) (param "payload" 14) (result 17)))
    (import "import-func-tool-after" (func (;2;) (type 18)))
    (type (;19;) (option u64))
    (type (;20;) (record (field "sections" 1) (field "recalled" 1) (field "messages" 1) (field "budget-tokens" 19)))
    (import "import-type-context-build-payload" (type (;21;) (eq 20)))
    (type (;22;) (variant (case "proceed") (case "rewrite" 1)))
    (import "import-type-context-build-verdict" (type (;23;) (eq 22)))
    (type (;24;) (result 23 (error string)))
    (type (;25;) (func (param "interceptor" string) (param "settings" 1) (param "at" 6) (param "payload" 21) (result 24)))
    (import "import-func-context-build" (func (;3;) (type 25)))
    (type (;26;) (record (field "query" string) (field "entries" 1)))
    (import "import-type-memory-recall-payload" (type (;27;) (eq 26)))
    (type (;28;) (variant (case "proceed") (case "deny" string) (case "rewrite" 1)))
    (import "import-type-memory-recall-verdict" (type (;29;) (eq 28)))
    (type (;30;) (result 29 (error string)))
    (type (;31;) (func (param "interceptor" string) (param "settings" 1) (param "at" 6) (param "payload" 27) (result 30)))
    (import "import-func-memory-recall" (func (;4;) (type 31)))
    (type (;32;) (record (field "model" string) (field "options" 1)))
    (import "import-type-provider-before-payload" (type (;33;) (eq 32)))
    (type (;34;) (variant (case "proceed") (case "deny" string) (case "rewrite" 1)))
    (import "import-type-provider-before-verdict" (type (;35;) (eq 34)))
    (type (;36;) (result 35 (error string)))
    (type (;37;) (func (param "interceptor" string) (param "settings" 1) (param "at" 6) (param "payload" 33) (result 36)))
    (import "import-func-provider-before" (func (;5;) (type 37)))
    (type (;38;) (func (param "watcher" string) (param "settings" 1) (param "event" 1)))
    (import "import-func-watch" (func (;6;) (type 38)))
    (type (;39;) string)
    (export (;40;) "json" (type 39))
    (type (;41;) (option string))
    (type (;42;) (record (field "session" string) (field "turn" u32) (field "pass" u32) (field "agent" string) (field "call-id" 41)))
    (export (;43;) "site" (type 42))
    (type (;44;) (record (field "tool" string) (field "input" 40)))
    (export (;45;) "tool-before-payload" (type 44))
    (type (;46;) (variant (case "proceed") (case "deny" string) (case "rewrite" 40) (case "handled" 40)))
    (export (;47;) "tool-before-verdict" (type 46))
    (type (;48;) (record (field "tool" string) (field "input" 40) (field "outcome" 40)))
    (export (;49;) "tool-after-payload" (type 48))
    (type (;50;) (variant (case "proceed") (case "deny" string) (case "rewrite" 40)))
    (export (;51;) "tool-after-verdict" (type 50))
    (type (;52;) (option u64))
    (type (;53;) (record (field "sections" 40) (field "recalled" 40) (field "messages" 40) (field "budget-tokens" 52)))
    (export (;54;) "context-build-payload" (type 53))
    (type (;55;) (variant (case "proceed") (case "rewrite" 40)))
    (export (;56;) "context-build-verdict" (type 55))
    (type (;57;) (record (field "query" string) (field "entries" 40)))
    (export (;58;) "memory-recall-payload" (type 57))
    (type (;59;) (variant (case "proceed") (case "deny" string) (case "rewrite" 40)))
    (export (;60;) "memory-recall-verdict" (type 59))
    (type (;61;) (record (field "model" string) (field "options" 40)))
    (export (;62;) "provider-before-payload" (type 61))
    (type (;63;) (variant (case "proceed") (case "deny" string) (case "rewrite" 40)))
    (export (;64;) "provider-before-verdict" (type 63))
    (type (;65;) (result 40 (error string)))
    (type (;66;) (func (param "settings" 40) (result 65)))
    (export (;7;) "register" (func 0) (func (type 66)))
    (type (;67;) (result 47 (error string)))
    (type (;68;) (func (param "interceptor" string) (param "settings" 40) (param "at" 43) (param "payload" 45) (result 67)))
    (export (;8;) "tool-before" (func 1) (func (type 68)))
    (type (;69;) (result 51 (error string)))
    (type (;70;) (func (param "interceptor" string) (param "settings" 40) (param "at" 43) (param "payload" 49) (result 69)))
    (export (;9;) "tool-after" (func 2) (func (type 70)))
    (type (;71;) (result 56 (error string)))
    (type (;72;) (func (param "interceptor" string) (param "settings" 40) (param "at" 43) (param "payload" 54) (result 71)))
    (export (;10;) "context-build" (func 3) (func (type 72)))
    (type (;73;) (result 60 (error string)))
    (type (;74;) (func (param "interceptor" string) (param "settings" 40) (param "at" 43) (param "payload" 58) (result 73)))
    (export (;11;) "memory-recall" (func 4) (func (type 74)))
    (type (;75;) (result 64 (error string)))
    (type (;76;) (func (param "interceptor" string) (param "settings" 40) (param "at" 43) (param "payload" 62) (result 75)))
    (export (;12;) "provider-before" (func 5) (func (type 76)))
    (type (;77;) (func (param "watcher" string) (param "settings" 40) (param "event" 40)))
    (export (;13;) "watch" (func 6) (func (type 77)))
  )
  (instance $orrery:interceptors/extension@1.0.0-shim-instance (;1;) (instantiate $orrery:interceptors/extension@1.0.0-shim-component
      (with "import-func-register" (func $register))
      (with "import-func-tool-before" (func $tool-before))
      (with "import-func-tool-after" (func $tool-after))
      (with "import-func-context-build" (func $context-build))
      (with "import-func-memory-recall" (func $memory-recall))
      (with "import-func-provider-before" (func $provider-before))
      (with "import-func-watch" (func $watch))
      (with "import-type-json" (type 1))
      (with "import-type-site" (type 3))
      (with "import-type-tool-before-payload" (type 4))
      (with "import-type-tool-before-verdict" (type 5))
      (with "import-type-tool-after-payload" (type 6))
      (with "import-type-tool-after-verdict" (type 7))
      (with "import-type-context-build-payload" (type 9))
      (with "import-type-context-build-verdict" (type 10))
      (with "import-type-memory-recall-payload" (type 11))
      (with "import-type-memory-recall-verdict" (type 12))
      (with "import-type-provider-before-payload" (type 13))
      (with "import-type-provider-before-verdict" (type 14))
    )
  )
  (export $orrery:interceptors/extension@1.0.0 (;2;) "orrery:interceptors/extension@1.0.0" (instance $orrery:interceptors/extension@1.0.0-shim-instance))
  (@producers
    (processed-by "wit-component" "0.262.0")
  )
)
