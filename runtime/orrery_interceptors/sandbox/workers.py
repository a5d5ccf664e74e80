"""Threads with a stack that a guest may use, for calls that cannot be made where they were asked for."""

from __future__ import annotations

import ctypes
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from .engine import MIB, MIN_THREAD_STACK

_T = TypeVar("_T")
_STACK = 4 * MIB
_starting = threading.Lock()  # `threading.stack_size` is the process's; it is changed only while a thread starts


class Workers:
    """A pool that grows to what is asked of it at once. Its threads end with the process, or on `close`."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Begin as after a fork, which leaves all threads but one behind."""
        self._pid = os.getpid()
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._threads = 0
        self._closed = False

    def submit(self, job: Callable[[], _T]) -> Future[_T]:
        """Run the job on a thread of the pool, at once. The future carries what it returns or raises."""
        if self._pid != os.getpid():
            self._begin()
        future: Future[_T] = Future()
        with self._lock:
            grow = self._idle == 0
            if grow:
                self._threads += 1
            else:
                self._idle -= 1
        self._jobs.put((future, job))
        if grow:
            self._start()
        return future

    def run(self, job: Callable[[], _T]) -> _T:
        """Run the job on a thread of the pool and wait for it. Raises what it raises."""
        return self.submit(job).result()

    def close(self) -> None:
        """Let the threads end that are idle, and the others when they become so."""
        with self._lock:
            self._closed = True
            threads = self._threads
        for _ in range(threads):
            self._jobs.put(None)

    def _start(self) -> None:
        with _starting:
            before = threading.stack_size()
            threading.stack_size(_STACK)
            try:
                threading.Thread(target=self._work, name="orrery-calls", daemon=True).start()
            finally:
                threading.stack_size(before)

    def _work(self) -> None:
        jobs = self._jobs
        while (taken := jobs.get()) is not None:
            future, job = taken
            try:
                result = job()
            except BaseException as error:  # carried to whoever waits
                future.set_exception(error)
            else:
                future.set_result(result)
            del taken, future, job
            with self._lock:
                self._idle += 1
        with self._lock:
            self._threads -= 1


class ThreadStacks(threading.local):
    """Whether the current thread can be used for a guest: its stack is large enough, and no signal interrupts it."""

    def __init__(self) -> None:
        self.main = threading.current_thread() is threading.main_thread()
        self.large = _stack_size() >= MIN_THREAD_STACK


def _stack_size() -> int:
    """The size of the current thread's stack in bytes; 0 where it cannot be known, so that another thread is used."""
    try:
        libc = ctypes.CDLL(None)
        attributes = (ctypes.c_char * 256)()
        base, size = ctypes.c_void_p(), ctypes.c_size_t()
        libc.pthread_self.restype = ctypes.c_void_p
        if libc.pthread_getattr_np(ctypes.c_void_p(libc.pthread_self()), attributes):
            return 0
        libc.pthread_attr_getstack(attributes, ctypes.byref(base), ctypes.byref(size))
        libc.pthread_attr_destroy(attributes)
    except (OSError, AttributeError):
        return 0
    return int(size.value)
