"""The epoch clock: deadlines in epochs, however late its thread is, and no thread for nothing."""

from __future__ import annotations

import os
import threading
import time

import pytest

from orrery_interceptors.sandbox import clock as module
from orrery_interceptors.sandbox.clock import TICK, EpochClock


class Epochs:
    """Counts the increments, and tells when there are enough."""

    def __init__(self) -> None:
        self.count = 0
        self.changed = threading.Condition()

    def increment(self) -> None:
        with self.changed:
            self.count += 1
            self.changed.notify_all()

    def reached(self, count: int, seconds: float = 10) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: self.count >= count, seconds)


def test_a_deadline_is_reached_by_itself_and_then_the_thread_sleeps() -> None:
    epochs = Epochs()
    clock = EpochClock(epochs.increment)
    token, ticks = clock.start(0.02)
    assert 20 <= ticks <= 22
    assert epochs.reached(ticks)
    clock.stop(token)
    settled = epochs.count
    assert not epochs.reached(settled + 5, 0.1)
    clock.close()


def test_a_start_brings_the_epochs_up_to_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    epochs = Epochs()
    clock = EpochClock(epochs.increment)
    clock._state.started = True  # as if the thread were kept from running
    _, first = clock.start(0.1)
    now += 0.05
    _, second = clock.start(0.1)
    assert epochs.count in (49, 50)  # a float may fall short of the fiftieth
    # The first call's deadline is at 100 epochs, the second's at 150, of which 50 have passed.
    assert first in (100, 101) and second in (100, 101, 102)


def test_while_nothing_runs_no_epochs_have_to_be_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    epochs = Epochs()
    clock = EpochClock(epochs.increment)
    clock._state.started = True
    token, _ = clock.start(0.1)
    clock.stop(token)
    now += 86_400
    clock.start(0.1)
    assert epochs.count == 0


def test_an_unused_clock_has_no_thread_and_stop_never_fails() -> None:
    before = threading.active_count()
    clock = EpochClock(lambda: None)
    clock.stop(12345)
    assert threading.active_count() == before
    clock.close()
    assert TICK == 0.001


def test_after_a_fork_the_child_has_a_clock_of_its_own() -> None:
    epochs = Epochs()
    clock = EpochClock(epochs.increment)
    clock.start(5)
    child = os.fork()
    if child == 0:
        token, ticks = clock.start(0.01)
        mine = Epochs()
        clock._state.increment = mine.increment
        reached = mine.reached(ticks, 5)
        clock.stop(token)
        os._exit(0 if reached else 1)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            break
        threading.Event().wait(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child's clock stood still")
    clock.close()
