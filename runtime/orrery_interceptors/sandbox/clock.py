"""The epoch clock: stops guests at their deadlines, and sleeps while none runs.

wasmtime counts epochs, and a guest traps when the count reaches the one it was given. Here an epoch is a millisecond,
but only while calls run: each start brings the count up to the clock (so a ticker that was kept waiting by busy Python
threads does not stretch anyone's deadline), and the ticker sleeps until the earliest deadline of those that run.
"""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections.abc import Callable

TICK = 0.001
"""Seconds in an epoch."""

_FAR = math.inf


class _State:
    """What the ticker's thread shares with the clock; it holds no clock, so that an unused clock can go away."""

    def __init__(self, increment: Callable[[], None]) -> None:
        self.increment = increment
        self.epoch = 0
        self.reset()

    def reset(self) -> None:
        """Begin as after a fork: no thread, no calls, and a lock that nobody holds."""
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.base = 0.0
        self.running: dict[int, int] = {}
        self.wake_at = _FAR
        self.started = False
        self.closed = False

    def catch_up(self, now: float) -> None:
        """Count the epochs that have passed. The lock is held."""
        for _ in range(int((now - self.base) / TICK) - self.epoch):
            self.increment()
            self.epoch += 1

    def close(self) -> None:
        """End the ticker's thread."""
        if self.pid == os.getpid():
            with self.changed:
                self.closed = True
                self.changed.notify()


class EpochClock:
    """Gives calls their deadlines in epochs. `increment` advances the engine's epoch by one."""

    def __init__(self, increment: Callable[[], None]) -> None:
        self._state = _State(increment)
        self._next = 0
        weakref.finalize(self, self._state.close)

    def start(self, seconds: float) -> tuple[int, int]:
        """A call starts that may take so long. Returns its token, for `stop`, and its deadline in epochs from now."""
        state = self._state
        if state.pid != os.getpid():
            state.reset()
        with state.lock:
            now = time.monotonic()
            if state.running:
                state.catch_up(now)
            else:
                state.base = now - state.epoch * TICK
            deadline = now + seconds
            target = math.ceil((deadline - state.base) / TICK)
            self._next = token = self._next + 1
            state.running[token] = target
            if deadline < state.wake_at:
                state.wake_at = deadline
                if not state.started:
                    state.started = True
                    threading.Thread(target=_tick, args=(state,), name="orrery-epochs", daemon=True).start()
                state.changed.notify()
            return token, max(target - state.epoch, 1)

    def stop(self, token: int) -> None:
        """The call is over. Never fails, whatever the token."""
        self._state.running.pop(token, None)

    def close(self) -> None:
        """End the thread. Calls that still run are no longer stopped, so there must be none."""
        self._state.close()


def _tick(state: _State) -> None:
    changed = state.changed
    with changed:
        while not state.closed:
            now = time.monotonic()
            if now >= state.wake_at:
                if state.running:
                    state.catch_up(now)
                # Copied at once: `stop` takes no lock.
                ahead = [target for target in tuple(state.running.values()) if target > state.epoch]
                state.wake_at = state.base + min(ahead) * TICK if ahead else _FAR
            wait = state.wake_at - now
            changed.wait(None if wait == _FAR else max(wait, 0.0))
