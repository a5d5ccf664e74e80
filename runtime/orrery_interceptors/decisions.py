"""What the host makes of all verdicts at one point, with who said what."""

from __future__ import annotations

from typing import NamedTuple

from .jsontext import Json
from .points import Point
from .verdicts import By, FailureKind


class TrailEntry(NamedTuple):
    """What one interceptor or rule said, in the order in which the decision counts them.

    `mode` is the interceptor's, or `rule`, `policy` or `load`. `verdict` is what it answered: `proceed`, `deny`,
    `rewrite`, `handled`, or None where no answer came; `failure` then says why, and `reason` in words. `patch` is the
    applied change (RFC 6902). `ran` says where it was asked: `inline`, or on a `thread` beside others. `logged` are the
    lines it wrote, as (level, text), and `dropped` counts those beyond the limit; they are told, not kept.
    """

    extension: str | None
    interceptor: str | None
    mode: str
    verdict: str | None
    failure: FailureKind | None = None
    reason: str | None = None
    patch: tuple[Json, ...] | None = None
    duration_us: int = 0
    fuel: int | None = None
    ran: str | None = None
    logged: tuple[tuple[str, str], ...] = ()
    dropped: int = 0

    def to_json(self) -> Json:
        """As it stands in a decision."""
        return {
            "extension": self.extension,
            "interceptor": self.interceptor,
            "mode": self.mode,
            "verdict": self.verdict,
            "failure": self.failure,
            "reason": self.reason,
            "patch": None if self.patch is None else list(self.patch),
            "durationUs": self.duration_us,
            "fuel": self.fuel,
            "ran": self.ran,
        }


class Decision(NamedTuple):
    """One decision.

    `decision` is `proceed`, `deny` or `handled`. `payload` is what goes on: rewritten where `changed`; with an
    `outcome` beside the call where it was handled, or withheld at `tool.after`; without entries where recall was
    denied. `reason` and `by` are set where the decision is a deny, `by` also where it is handled.
    """

    point: Point
    decision: str
    changed: bool
    payload: dict[str, Json]
    reason: str | None
    by: By | None
    trail: tuple[TrailEntry, ...]

    @property
    def denied(self) -> bool:
        """Whether what was asked about must not go on."""
        return self.decision == "deny"

    @property
    def handled(self) -> bool:
        """Whether an extension answered in the tool's place."""
        return self.decision == "handled"

    @property
    def outcome(self) -> Json:
        """The outcome that goes on, at `tool.after` and for a handled call; else None."""
        return self.payload.get("outcome")

    def to_json(self) -> Json:
        """The decision as `orrery check` prints it."""
        return {
            "point": self.point,
            "decision": self.decision,
            "changed": self.changed,
            "payload": self.payload,
            "reason": self.reason,
            "by": None if self.by is None else self.by.to_json(),
            "trail": [entry.to_json() for entry in self.trail],
        }
