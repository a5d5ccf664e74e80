"""What was said so far: the user's words, the model's answers, and what came of each call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..jsontext import Json
from .outcomes import Outcome, as_text

Message = dict[str, Json]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for. `input` is a string where the model's arguments were not JSON."""

    id: str
    tool: str
    input: Json


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call and what came of it. `input` is what was decided on; `changed_by` names the extensions that changed it."""

    call: ToolCall
    input: Json
    outcome: Outcome
    changed_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    calls: tuple[MadeCall, ...] = ()


@dataclass(slots=True)
class Conversation:
    """The whole conversation, oldest first. It only grows; what is sent of it is the context builder's to say."""

    _entries: list[str | _Said] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    def hear(self, text: str) -> None:
        """Take in a message of the user."""
        self._entries.append(text)

    def say(self, text: str, calls: Iterable[MadeCall]) -> None:
        """Take in an answer of the model, with the calls that were made for it."""
        self._entries.append(_Said(text, tuple(calls)))

    def named(self, calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
        """The calls, each with an id that no other call of the conversation has.

        Some endpoints leave ids out or count them anew in every answer.
        """
        return tuple(self._named(call) for call in calls)

    def messages(self) -> list[Message]:
        """The conversation as `context.build` is asked about it.

        A call stands with the input that it ran with: a model that reads its own words where others ran tries again.
        Where an extension changed them, the answer says so.
        """
        messages: list[Message] = []
        for entry in self._entries:
            if isinstance(entry, str):
                messages.append({"role": "user", "content": entry})
            else:
                messages += _answer(entry)
        return messages

    def _named(self, call: ToolCall) -> ToolCall:
        name, number = call.id or "call", 1
        while name in self._ids:
            number += 1
            name = f"{call.id or 'call'}-{number}"
        self._ids.add(name)
        return call if name == call.id else replace(call, id=name)


def _answer(said: _Said) -> list[Message]:
    message: Message = {"role": "assistant", "content": said.text}
    if said.calls:
        message["tool_calls"] = [
            {"id": made.call.id, "tool": made.call.tool, "input": made.input} for made in said.calls
        ]
    return [message, *(_result(made) for made in said.calls)]


def _result(made: MadeCall) -> Message:
    text = as_text(made.outcome)
    if made.changed_by:
        text = f"[the input of this call was changed by {', '.join(made.changed_by)}]\n{text}"
    return {"role": "tool", "tool_call_id": made.call.id, "tool": made.call.tool, "content": text}
