"""The gates of one decision, asked side by side where that pays.

A tiny gate is done before another thread has even begun, so gates that answered quickly of late are asked one after the
other; the longest of the slow ones runs here and the others on threads. What runs where never changes the decision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Protocol

from ..points import Point, Site
from ..verdicts import Failure, FailureKind, Reply
from .plan import Matched
from .texts import Texts
from .trail import beyond_cap

HOP_US = 300.0
"""What sending a gate to another thread must save to be worth it, in microseconds."""

Submit = Callable[[Callable[[], Reply]], "Future[Reply]"]
"""Runs a job on another thread."""


class _Asking(Protocol):
    def __call__(self, matched: Matched) -> Reply: ...


def ask(matched: Matched, point: Point, site: Site, texts: Texts | Failure) -> Reply:
    """Ask one interceptor, unless there is nothing to ask it."""
    if matched.beyond is not None:
        return Reply(beyond_cap(matched.beyond))
    if isinstance(texts, Failure):
        return Reply(texts)
    try:
        return matched.interceptor.ask(point, site, texts)
    except Exception as error:
        # An interceptor answers with replies; whatever else leaves it must deny like any other failure.
        return Reply(Failure(FailureKind.HOST, f"the host failed while asking: {type(error).__name__}: {error}"))


def ask_all(
    gates: Sequence[Matched], point: Point, site: Site, texts: Texts | Failure, submit: Submit | None
) -> tuple[list[Reply], frozenset[int]]:
    """The replies in the gates' order, and the indexes of those that ran on other threads."""
    elsewhere = _worth_a_thread(gates) if submit is not None and len(gates) > 1 else frozenset()
    if submit is None or not elsewhere:
        return [ask(gate, point, site, texts) for gate in gates], frozenset()
    futures = {
        index: submit(lambda gate=gates[index]: ask(gate, point, site, texts))  # type: ignore[misc]  # mypy: defaults
        for index in elsewhere
    }
    replies = {index: ask(gate, point, site, texts) for index, gate in enumerate(gates) if index not in elsewhere}
    for index, future in futures.items():
        replies[index] = future.result()
    return [replies[index] for index in range(len(gates))], elsewhere


def _worth_a_thread(gates: Sequence[Matched]) -> frozenset[int]:
    """All slow gates but the slowest. One that was never asked may be slow."""
    slow = [
        (HOP_US if gate.interceptor.expected_us is None else gate.interceptor.expected_us, index)
        for index, gate in enumerate(gates)
        if gate.beyond is None and (gate.interceptor.expected_us is None or gate.interceptor.expected_us >= HOP_US)
    ]
    return frozenset(index for _, index in sorted(slow)[:-1])
