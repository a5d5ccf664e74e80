;; Grows page by page, touches each page, and goes on when it gets no more.
;;; point
(local $page i32)
(loop $again
  (local.set $page (memory.grow (i32.const 1)))
  (if (i32.ne (local.get $page) (i32.const -1))
    (then (i32.store (i32.mul (local.get $page) (i32.const 65536)) (i32.const 1))))
  (br $again))
(unreachable)
