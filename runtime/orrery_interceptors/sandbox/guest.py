"""One call in one fresh instance.

A call makes a store, bounds it, instantiates the component, calls one function, reads the answer and throws all of it
away; nothing of one call is there in the next. Whatever happens comes back as a `Reply`.
"""

from __future__ import annotations

import ctypes
import queue
import threading
from collections.abc import Callable
from ctypes import addressof, c_uint64
from dataclasses import dataclass
from time import monotonic, perf_counter_ns
from typing import Any

from ..points import Point, Site
from ..reasons import clean, cut
from ..verdicts import Answer, Failure, FailureKind, Reply, Verdict
from . import binary, capi
from .clock import EpochClock
from .engine import KIB
from .failures import no_answer, take_error
from .frames import FUNCTIONS, Argument, Frame, Frames
from .guestlog import GuestLog, LogLines
from .workers import ThreadStacks, Workers

_ANSWERS = {answer.value: answer for answer in Answer}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one call may use. `in_flight` bounds how many calls of the extension run at once."""

    fuel: int
    memory_mib: int
    output_kib: int
    payload_kib: int
    in_flight: int
    log_lines: int


class Host:
    """What all guests of one engine share. `engine`, `linker` and the guests' components are addresses in C."""

    def __init__(self, engine: int, linker: int, clock: EpochClock, log: GuestLog, workers: Workers) -> None:
        self.engine = engine
        self.linker = linker
        self.clock = clock
        self.log = log
        self.workers = workers
        self.frames = Frames()
        self.stacks = ThreadStacks()
        self.handles = _Handles()


class _Handles(threading.local):
    """Room for the handles within a store, for each thread."""

    def __init__(self) -> None:
        self.instance = (ctypes.c_char * capi.INSTANCE_BYTES)()
        self.func = (ctypes.c_char * capi.FUNC_BYTES)()
        self.fuel = c_uint64()
        self.addresses = addressof(self.instance), addressof(self.func), addressof(self.fuel)


@dataclass(slots=True)
class Exports:
    """A component in C: its address, those of its functions' export indexes, and whatever keeps them alive."""

    component: int
    functions: dict[str, int]
    logs: bool
    owners: tuple[Any, ...]


class Slots:
    """As many calls as may run at once. Tokens in a queue, which is quicker than a semaphore in Python."""

    def __init__(self, count: int) -> None:
        self._tokens: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(count):
            self._tokens.put(None)

    def acquire(self, seconds: float) -> bool:
        """Take a slot, waiting at most so long for one. Whether there was one."""
        try:
            self._tokens.get_nowait()
        except queue.Empty:
            if seconds <= 0:
                return False
            try:
                self._tokens.get(timeout=seconds)
            except queue.Empty:
                return False
        return True

    def release(self) -> None:
        """Give a slot back."""
        self._tokens.put(None)


class Guest:
    """A loaded component that can be asked, from any thread. What the guest does never raises."""

    def __init__(self, host: Host, exports: Exports, bounds: Bounds, plan: binary.MemoryPlan) -> None:
        self._host = host
        self._exports = exports
        self._bounds = bounds
        self._limits = (plan.each, binary.MAX_TABLE_ELEMENTS, binary.MAX_INSTANCES, binary.MAX_TABLES, plan.memories)
        self._output = bounds.output_kib * KIB
        self._payload = bounds.payload_kib * KIB
        self._slots = Slots(bounds.in_flight)
        self._closed = False

    def close(self) -> None:
        """No further call begins. Calls that run go on to their end; the component goes away after the last."""
        self._closed = True

    def ask(
        self,
        point: Point,
        interceptor: bytes,
        settings: bytes,
        site: Site,
        payload: tuple[Argument, ...],
        size: int,
        deadline_ms: int,
    ) -> Reply:
        """Ask an interceptor. `payload` has the point's fields in order, `size` their length in bytes."""
        if size > self._payload:
            limit = self._bounds.payload_kib
            return Reply(Failure(FailureKind.TOO_LARGE, f"the payload is larger than {limit} KiB", limit))

        def fill(frame: Frame) -> None:
            frame.texts(interceptor, settings)
            frame.site(site)
            frame.payload(payload)

        return self._run(FUNCTIONS[point], fill, deadline_ms)

    def register(self, settings: bytes, deadline_ms: int) -> Reply:
        """Ask what the extension registers. The text of the verdict is the registration."""
        return self._run("register", lambda frame: frame.texts(settings), deadline_ms)

    def watch(self, watcher: bytes, settings: bytes, event: bytes, deadline_ms: int) -> Reply:
        """Tell a watcher. The verdict says nothing."""
        return self._run("watch", lambda frame: frame.texts(watcher, settings, event), deadline_ms)

    def _run(self, function: str, fill: Callable[[Frame], None], deadline_ms: int) -> Reply:
        started = perf_counter_ns()
        deadline = monotonic() + deadline_ms / 1000
        if self._closed:
            return Reply(Failure(FailureKind.GONE, "the extension was unloaded"))
        if not self._slots.acquire(deadline_ms / 1000):
            limit = self._bounds.in_flight
            what = f"no slot within {deadline_ms} ms: {limit} calls of the extension were running"
            return Reply(Failure(FailureKind.NO_SLOT, what, limit), (perf_counter_ns() - started) // 1000)
        stacks = self._host.stacks
        lines = LogLines(self._bounds.log_lines) if self._exports.logs else None
        # See `guestlog` for why the main thread runs no guest that logs.
        if not stacks.large or (lines is not None and stacks.main):
            outcome, fuel = self._host.workers.run(lambda: self._released(function, fill, deadline, deadline_ms, lines))
        else:
            outcome, fuel = self._released(function, fill, deadline, deadline_ms, lines)
        duration = (perf_counter_ns() - started) // 1000
        if lines is None:
            return Reply(outcome, duration, fuel)
        return Reply(outcome, duration, fuel, tuple(lines.kept), lines.dropped)

    def _released(
        self, function: str, fill: Callable[[Frame], None], deadline: float, deadline_ms: int, lines: LogLines | None
    ) -> tuple[Verdict | Failure, int]:
        try:
            return self._call(function, fill, deadline, deadline_ms, lines)
        finally:
            self._slots.release()

    def _call(
        self, function: str, fill: Callable[[Frame], None], deadline: float, deadline_ms: int, lines: LogLines | None
    ) -> tuple[Verdict | Failure, int]:
        host, bounds = self._host, self._bounds
        frame = host.frames.get(function)
        fill(frame)
        left = deadline - monotonic()
        if left <= 0:
            return no_answer(deadline_ms), 0
        store = capi.store_new(host.engine, None, None)
        try:
            context = capi.store_context(store)
            capi.store_limiter(store, *self._limits)
            capi.set_fuel(context, bounds.fuel)
            if lines is not None:
                host.log.begin(lines)
            token, ticks = host.clock.start(left)
            try:
                capi.set_epoch_deadline(context, ticks)
                error, instantiated = self._enter(context, frame, function)
            finally:
                host.clock.stop(token)
                if lines is not None:
                    host.log.end()
            fuel = host.handles.fuel
            capi.get_fuel(context, host.handles.addresses[2])
            used = bounds.fuel - fuel.value
            if error:
                return (
                    take_error(
                        error,
                        instantiating=not instantiated,
                        fuel=bounds.fuel,
                        memory_mib=bounds.memory_mib,
                        deadline_ms=deadline_ms,
                    ),
                    used,
                )
        finally:
            capi.store_delete(store)
            frame.release()
        return self._read(frame), used

    def _enter(self, context: int, frame: Frame, function: str) -> tuple[int | None, bool]:
        """Instantiate and call. Returns an error, if there is one, and whether there was an instance by then."""
        exports = self._exports
        instance, func, _ = self._host.handles.addresses
        error = capi.instantiate(self._host.linker, context, exports.component, instance)
        if error:
            return error, False
        capi.instance_get_func(instance, context, exports.functions[function], func)
        results = frame.results
        if results is None:
            return capi.func_call(func, context, frame.address, frame.count, None, 0), True
        return capi.func_call(func, context, frame.address, frame.count, results.address, 1), True

    def _read(self, frame: Frame) -> Verdict | Failure:
        if frame.results is None:
            return Verdict(Answer.PROCEED)
        return answer_of(*frame.results.take(self._output), self._bounds.output_kib)


def answer_of(case: str, text: str | int, output_kib: int) -> Verdict | Failure:
    """What a case and its text mean. A number in place of the text is the size of one that is too large."""
    if isinstance(text, int):
        return Failure(FailureKind.TOO_LARGE, f"the answer of {text} bytes is larger than {output_kib} KiB", output_kib)
    if case == "err":
        said = cut(clean(text), 512) or "no reason given"
        return Failure(FailureKind.GUEST_ERROR, f"answered with an error: {said}")
    return Verdict(_ANSWERS.get(case, Answer.PROCEED), text)
