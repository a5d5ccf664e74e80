;; Calls itself for ever.
;;; functions
(func $down (param i32) (result i32) (i32.add (i32.const 1) (call $down (local.get 0))))
;;; point
(drop (call $down (i32.const 0)))
(call $proceed)
