"""The five points of the loop, and what is asked, answered and changed at each.

This table is the whole difference between the points: everything else in the host reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Point(StrEnum):
    """A place in the loop where extensions are asked."""

    TOOL_BEFORE = "tool.before"
    TOOL_AFTER = "tool.after"
    CONTEXT_BUILD = "context.build"
    MEMORY_RECALL = "memory.recall"
    PROVIDER_BEFORE = "provider.before"


class Mode(StrEnum):
    """What an interceptor may answer, and what its failure means.

    A gate allows or denies. A rewrite may change the payload, and may deny where the point allows a deny. A
    rewrite-only may change the payload and nothing else.
    """

    GATE = "gate"
    REWRITE = "rewrite"
    REWRITE_ONLY = "rewrite-only"


class Kind(StrEnum):
    """What a field of a payload holds."""

    TEXT = "text"
    JSON = "json"
    OBJECT = "object"
    OUTCOME = "outcome"
    SECTIONS = "sections"
    ENTRIES = "entries"
    MESSAGES = "messages"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class PointSpec:
    """One row of the table.

    `fields` are the payload's, in the order in which a guest's function takes them; `optional` may be left out.
    `rewritable` names the fields that a rewrite may change: none at `context.build`, where a rewrite is edits.
    """

    point: Point
    fields: Mapping[str, Kind]
    rewritable: frozenset[str]
    may_deny: bool
    may_handle: bool
    has_tool: bool
    optional: frozenset[str] = frozenset()

    def fails_closed(self, mode: Mode) -> bool:
        """Whether an interceptor of this mode that does not answer denies (or else is skipped)."""
        return self.may_deny and mode is not Mode.REWRITE_ONLY

    def allows(self, mode: Mode) -> bool:
        """Whether an interceptor of this mode can stand at this point."""
        return self.may_deny or mode is not Mode.GATE


SPECS: Mapping[Point, PointSpec] = {
    spec.point: spec
    for spec in (
        PointSpec(
            Point.TOOL_BEFORE,
            {"tool": Kind.TEXT, "input": Kind.JSON},
            frozenset({"input"}),
            may_deny=True,
            may_handle=True,
            has_tool=True,
        ),
        PointSpec(
            Point.TOOL_AFTER,
            {"tool": Kind.TEXT, "input": Kind.JSON, "outcome": Kind.OUTCOME},
            frozenset({"outcome"}),
            may_deny=True,
            may_handle=False,
            has_tool=True,
        ),
        PointSpec(
            Point.CONTEXT_BUILD,
            {
                "sections": Kind.SECTIONS,
                "recalled": Kind.ENTRIES,
                "messages": Kind.MESSAGES,
                "budgetTokens": Kind.COUNT,
            },
            frozenset(),
            may_deny=False,
            may_handle=False,
            has_tool=False,
            optional=frozenset({"budgetTokens"}),
        ),
        PointSpec(
            Point.MEMORY_RECALL,
            {"query": Kind.TEXT, "entries": Kind.ENTRIES},
            frozenset({"entries"}),
            may_deny=True,
            may_handle=False,
            has_tool=False,
        ),
        PointSpec(
            Point.PROVIDER_BEFORE,
            {"model": Kind.TEXT, "options": Kind.OBJECT},
            frozenset({"options"}),
            may_deny=True,
            may_handle=False,
            has_tool=False,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Site:
    """Where a call happens. The same at every point of one call.

    `turn` counts the user's messages from 1 and `pass_` the requests to the model within a turn, 0 before the first.
    `agent` is `main` or a persona's name. `call` is the model's id of a tool call, at the two tool points.
    """

    session: str = ""
    turn: int = 0
    pass_: int = 0
    agent: str = "main"
    call: str | None = None

    def to_json(self) -> dict[str, object]:
        """The site as it stands in records and events."""
        return {
            "session": self.session,
            "turn": self.turn,
            "pass": self.pass_,
            "agent": self.agent,
            "call": self.call,
        }
