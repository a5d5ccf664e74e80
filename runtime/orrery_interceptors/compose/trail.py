"""What becomes of a reply that is no answer, and the trail's entries."""

from __future__ import annotations

from typing import NamedTuple

from ..decisions import TrailEntry
from ..jsontext import Json
from ..points import SPECS, Point
from ..reasons import denial
from ..reasons import failure as failure_reason
from ..verdicts import Answer, By, Failure, FailureKind, Reply
from .plan import Asked


class Denial(NamedTuple):
    """A denial and who made it."""

    by: By
    reason: str


def entry(
    interceptor: Asked,
    reply: Reply,
    ran: str,
    verdict: Answer | None,
    *,
    failure: FailureKind | None = None,
    reason: str | None = None,
    patch: tuple[Json, ...] | None = None,
) -> TrailEntry:
    """What an interceptor said, and what asking it cost."""
    return TrailEntry(
        interceptor.extension,
        interceptor.name,
        interceptor.mode,
        verdict,
        failure,
        reason,
        patch,
        reply.duration_us,
        reply.fuel,
        ran,
        reply.logged,
        reply.dropped,
    )


def denied(point: Point, interceptor: Asked, words: str) -> Denial:
    """The denial by an interceptor that answered with one."""
    by = By(interceptor.extension, interceptor.name, interceptor.mode)
    return Denial(by, denial(interceptor.name, point, interceptor.extension, words))


def failed(
    point: Point, interceptor: Asked, failure: Failure, reply: Reply, ran: str
) -> tuple[TrailEntry, Denial | None]:
    """The entry for an interceptor that did not answer, and the denial where its mode fails closed."""
    reason = failure_reason(interceptor.name, point, interceptor.extension, failure)
    said = entry(interceptor, reply, ran, None, failure=failure.kind, reason=reason)
    if not SPECS[point].fails_closed(interceptor.mode):
        return said, None
    return said, Denial(By(interceptor.extension, interceptor.name, failure.kind), reason)


def beyond_cap(cap: int) -> Failure:
    """The failure of an interceptor that lies beyond the cap."""
    return Failure(FailureKind.CAP, f"not asked: limits.interceptorsPerPhase is {cap}, and others come before it", cap)
