"""The context builder: the only way by which anything reaches the model.

What is sent is what the decision at `context.build` left; the edits that led to it are patches in the decision's trail,
and so in the audit.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..jsontext import Json
from ..points import Point, Site
from .conversation import Message
from .decider import Decider
from .events import Decided
from .memory import Entry


@dataclass(frozen=True, slots=True)
class Context:
    """What the next request carries, and the decision that shaped it."""

    system: str
    messages: tuple[Message, ...]
    decided: Decided


class ContextBuilder:
    """Puts sections, recalled entries and the conversation together, and has the extensions shape them."""

    def __init__(self, decider: Decider, sections: list[dict[str, Json]], budget_tokens: int | None = None) -> None:
        self._decider = decider
        self._sections = sections
        self._budget_tokens = budget_tokens

    async def build(self, recalled: list[Entry], messages: list[Message], site: Site) -> Context:
        """The context for one request. Raises as the decider does."""
        payload: dict[str, Json] = {"sections": self._sections, "recalled": recalled, "messages": messages}
        if self._budget_tokens is not None:
            payload["budgetTokens"] = self._budget_tokens
        decision = await self._decider.adecide(Point.CONTEXT_BUILD, payload, site)
        built = decision.payload
        return Context(
            _system(built["sections"], built["recalled"]),
            tuple(built["messages"]),
            Decided(decision, site, payload),
        )


def _system(sections: list[dict[str, Json]], recalled: list[Entry]) -> str:
    parts = [str(section["text"]) for section in sections if section["text"]]
    if recalled:
        parts.append("\n".join(["What is remembered:", *(f"- {entry['text']}" for entry in recalled)]))
    return "\n\n".join(parts)
