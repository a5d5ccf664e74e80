;; Denies with a text that would take over a terminal, and says nothing that can be seen.
;;; data
(data (i32.const 1024) "\1b\e2\80\8b\e2\80\ae\00\0a")
;;; point
(call $answer (i32.const 1) (i32.const 1024) (i32.const 9))
