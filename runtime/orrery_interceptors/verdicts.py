"""What an interceptor answers, and what there is instead when it does not.

Named tuples: a decision makes a dozen of these values, and a tuple is made at a third of a frozen dataclass's cost.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from .jsontext import Json


class Answer(StrEnum):
    """The four answers. Which of them a point and a mode allow is the points' table to say."""

    PROCEED = "proceed"
    DENY = "deny"
    REWRITE = "rewrite"
    HANDLED = "handled"


class FailureKind(StrEnum):
    """Why an answer did not come."""

    DEADLINE = "deadline"
    """No answer in time, waiting for a free slot aside (see `NO_SLOT`)."""
    FUEL = "fuel"
    """More work than one call may do."""
    MEMORY = "memory"
    """More memory, tables or instances than one call may have."""
    STACK = "stack"
    """Recursion beyond the stack."""
    TRAP = "trap"
    """The guest stopped: a panic, an unreachable, a read out of bounds, …"""
    GUEST_ERROR = "guest-error"
    """The guest answered with an error of its own."""
    INVALID_ANSWER = "invalid-answer"
    """The answer does not parse, or is one that its mode or point does not allow."""
    TOO_LARGE = "too-large"
    """The payload or the answer is larger than its limit."""
    BAD_PAYLOAD = "bad-payload"
    """The payload has no JSON text: NaN, a lone surrogate, too deep."""
    NO_SLOT = "no-slot"
    """As many calls of the extension as may run were running until the deadline."""
    CAP = "cap"
    """More interceptors matched the call than may run at one point."""
    GONE = "gone"
    """The extension was unloaded, or its component can no longer be had."""
    HOST = "host"
    """The host itself failed while it asked. Always a defect of the host; reported with its text."""


class Failure(NamedTuple):
    """An answer that did not come. `detail` is for people; `limit` is the bound that was met, in the key's own unit."""

    kind: FailureKind
    detail: str
    limit: int | None = None


class Verdict(NamedTuple):
    """An interceptor's answer. `text` is the denial's reason, or the JSON text of a rewrite or of a handled outcome."""

    answer: Answer
    text: str = ""


class Reply(NamedTuple):
    """What came back from asking one interceptor, and what it cost.

    `fuel` counts wasmtime's units and is None where no guest ran. `logged` are the lines the guest wrote, as
    (level, text); `dropped` counts the lines beyond the limit.
    """

    outcome: Verdict | Failure
    duration_us: int = 0
    fuel: int | None = None
    logged: tuple[tuple[str, str], ...] = ()
    dropped: int = 0


class By(NamedTuple):
    """Who decided. `kind` is `gate`, `rewrite`, `rule`, `policy`, `cap`, `load` or a failure kind."""

    extension: str | None
    interceptor: str | None
    kind: str

    def to_json(self) -> Json:
        """As it stands in a decision."""
        return {"extension": self.extension, "interceptor": self.interceptor, "kind": self.kind}
