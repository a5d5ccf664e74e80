"""What a run tells while it goes on, in order."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..decisions import Decision
from ..jsontext import Json
from ..points import Site
from .conversation import ToolCall
from .outcomes import Outcome


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The user said something."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision was made at one of the five points. `asked` is the payload that was asked about."""

    decision: Decision
    site: Site
    asked: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Answered:
    """The model answered. `tokens` is None where they were not counted."""

    text: str
    calls: tuple[ToolCall, ...]
    tokens: int | None


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call is over. `how` is `ran`, `recorded` (the session has its outcome), `handled` or `denied`."""

    call: ToolCall
    input: Json
    outcome: Outcome
    how: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run ended before its time. `key` is the budget that was used up, None where it was something else."""

    why: str
    key: str | None = None


@dataclass(slots=True)
class Summary:
    """What a run came to. `failures` counts interceptors without an answer, by kind."""

    turns: int = 0
    passes: int = 0
    calls: int = 0
    denied: int = 0
    changed: int = 0
    handled: int = 0
    skipped: int = 0
    tokens: int = 0
    seconds: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)
    stopped: Stopped | None = None

    def count(self, decision: Decision) -> None:
        """Count a decision in."""
        self.denied += decision.denied
        self.changed += decision.changed and not decision.denied
        self.handled += decision.handled
        for entry in decision.trail:
            if entry.failure is not None:
                self.failures[entry.failure] = self.failures.get(entry.failure, 0) + 1
                self.skipped += not decision.denied

    def to_json(self) -> Json:
        """As `orrery run --json` prints it."""
        return {
            "turns": self.turns,
            "passes": self.passes,
            "calls": self.calls,
            "denied": self.denied,
            "changed": self.changed,
            "handled": self.handled,
            "skipped": self.skipped,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
            "failures": dict(self.failures),
            "stopped": None if self.stopped is None else {"why": self.stopped.why, "key": self.stopped.key},
        }


LoopEvent = TurnStarted | Decided | Answered | CallEnded | Stopped
