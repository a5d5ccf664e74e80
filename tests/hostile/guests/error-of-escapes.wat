;; Returns an error whose text would take over a terminal.
;;; data
(data (i32.const 1024) "\1b[2J\e2\80\aeevil\00\0a")
;;; point
(call $fail (i32.const 1024) (i32.const 13))
