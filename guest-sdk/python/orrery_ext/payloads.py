"""What is asked about at each point. JSON values are read when they are first looked at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar


@dataclass(frozen=True)
class Site:
    """Where a call happens. `call_id` is set at the two tool points."""

    session: str
    turn: int
    pass_: int
    agent: str
    call_id: str | None


class Payload:
    """A payload, made of the texts that crossed to the guest."""

    point: ClassVar[str]
    field: ClassVar[str]

    def __init__(self, **texts: Any) -> None:
        self._texts = texts


class ToolBefore(Payload):
    """A tool call that is about to be made."""

    point, field = "tool.before", "input"

    @property
    def tool(self) -> str:
        """The tool's name."""
        return str(self._texts["tool"])

    @cached_property
    def input(self) -> Any:
        """The call's input, most often a dict."""
        return json.loads(self._texts["input"])


class ToolAfter(ToolBefore):
    """A tool call that was made, and what came of it."""

    point, field = "tool.after", "outcome"

    @cached_property
    def outcome(self) -> dict[str, Any]:
        """What came of it, tagged by `t`."""
        outcome: dict[str, Any] = json.loads(self._texts["outcome"])
        return outcome


class ContextBuild(Payload):
    """The context before it is sent."""

    point, field = "context.build", "edits"

    @cached_property
    def sections(self) -> list[dict[str, Any]]:
        """The sections of the system prompt: `id`, `text`."""
        return list(json.loads(self._texts["sections"]))

    @cached_property
    def recalled(self) -> list[dict[str, Any]]:
        """What memory returned: `id`, `text`, and perhaps `score`, `meta`."""
        return list(json.loads(self._texts["recalled"]))

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation: `role`, `content`."""
        return list(json.loads(self._texts["messages"]))

    @property
    def budget_tokens(self) -> int | None:
        """How many tokens the context may take, where that is known."""
        tokens: int | None = self._texts["budget_tokens"]
        return tokens


class MemoryRecall(Payload):
    """What memory answered."""

    point, field = "memory.recall", "entries"

    @property
    def query(self) -> str:
        """What memory was asked."""
        return str(self._texts["query"])

    @cached_property
    def entries(self) -> list[dict[str, Any]]:
        """What it returned, best first: `id`, `text`, and perhaps `score`, `meta`."""
        return list(json.loads(self._texts["entries"]))


class ProviderBefore(Payload):
    """A request that is about to be sent, without its conversation."""

    point, field = "provider.before", "options"

    @property
    def model(self) -> str:
        """The model's name."""
        return str(self._texts["model"])

    @cached_property
    def options(self) -> dict[str, Any]:
        """The request's options."""
        return dict(json.loads(self._texts["options"]))


POINTS: dict[str, type[Payload]] = {
    kind.point: kind for kind in (ToolBefore, ToolAfter, ContextBuild, MemoryRecall, ProviderBefore)
}
