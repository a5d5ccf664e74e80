"""The edits that an interceptor at `context.build` may answer with.

Sections may be added, replaced and dropped; recalled entries dropped; messages dropped or their content replaced. No
message can be added or change its role: an extension shapes the conversation, it does not speak in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from .jsontext import Json
from .rewriting import Patch, merge, same


class EditError(ValueError):
    """An edit that cannot be applied. `index` counts the answer's edits from 0."""

    def __init__(self, index: int, what: str) -> None:
        super().__init__(f"edits/{index}: {what}")
        self.index = index


class _Edit(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AddSection(_Edit):
    """Add a section, before another or at the end."""

    t: Literal["add-section"]
    id: str = Field(min_length=1, max_length=128)
    text: str
    before: str | None = None


class ReplaceSection(_Edit):
    """Give a section another text."""

    t: Literal["replace-section"]
    id: str
    text: str


class DropSection(_Edit):
    """Leave a section out."""

    t: Literal["drop-section"]
    id: str


class DropRecalled(_Edit):
    """Leave an entry out that memory returned."""

    t: Literal["drop-recalled"]
    id: Any


class ReplaceMessage(_Edit):
    """Give a message another content. `index` counts the messages that were asked about from 0."""

    t: Literal["replace-message"]
    index: int = Field(ge=0)
    content: Any


class DropMessage(_Edit):
    """Leave a message out. A tool's answer goes only with the call it answers, and a call with its answers."""

    t: Literal["drop-message"]
    index: int = Field(ge=0)


Edit = Annotated[
    AddSection | ReplaceSection | DropSection | DropRecalled | ReplaceMessage | DropMessage, Field(discriminator="t")
]
_EDITS: TypeAdapter[list[Edit]] = TypeAdapter(list[Edit])


def parse(value: Json) -> list[Edit]:
    """Read an answer's edits. Raises `EditError` for the first that has not the right shape."""
    try:
        return _EDITS.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        index, *where = first["loc"] or (0,)
        place = "/".join(str(part) for part in where[1:])
        raise EditError(
            index if isinstance(index, int) else 0, f"{place}: {first['msg']}" if place else first["msg"]
        ) from None


def apply(payload: Mapping[str, Json], edits: list[Edit]) -> tuple[dict[str, Json], Patch]:
    """The payload with the edits applied, all or none, and the patch that they amount to.

    Raises `EditError` where an edit names what is not there, or would leave a tool call without its answer.
    """
    sections = list(payload["sections"])
    recalled = list(payload["recalled"])
    messages: list[Json] = list(payload["messages"])
    dropped: set[int] = set()
    for number, edit in enumerate(edits):
        match edit:
            case AddSection():
                if _find(sections, edit.id) is not None:
                    raise EditError(number, f"there is a section {edit.id!r} already; replace it or choose another id")
                at = len(sections) if edit.before is None else _section(sections, edit.before, number)
                sections.insert(at, {"id": edit.id, "text": edit.text})
            case ReplaceSection():
                at = _section(sections, edit.id, number)
                sections[at] = {**sections[at], "text": edit.text}
            case DropSection():
                del sections[_section(sections, edit.id, number)]
            case DropRecalled():
                kept = [entry for entry in recalled if not same(entry["id"], edit.id)]
                if len(kept) == len(recalled):
                    raise EditError(number, f"nothing with the id {edit.id!r} was recalled")
                recalled = kept
            case ReplaceMessage():
                _check_index(edit.index, messages, dropped, number)
                messages[edit.index] = {**messages[edit.index], "content": edit.content}
            case DropMessage():
                _check_index(edit.index, messages, dropped, number)
                dropped.add(edit.index)
    kept_messages = [message for index, message in enumerate(messages) if index not in dropped]
    if dropped and (orphans := _orphans(kept_messages) - _orphans(messages)):
        raise EditError(
            len(edits) - 1,
            f"a tool call and its answers go together; {', '.join(sorted(orphans))} would be left with one of them",
        )
    return _merged(payload, {"sections": sections, "recalled": recalled, "messages": kept_messages})


def _merged(payload: Mapping[str, Json], edited: Mapping[str, Json]) -> tuple[dict[str, Json], Patch]:
    values, patch = dict(payload), []
    for name, value in edited.items():
        values[name], changes = merge(payload[name], value, f"/{name}")
        patch += changes
    return values, patch


def _find(sections: list[Json], wanted: str) -> int | None:
    return next((index for index, section in enumerate(sections) if section["id"] == wanted), None)


def _section(sections: list[Json], wanted: str, number: int) -> int:
    if (at := _find(sections, wanted)) is None:
        raise EditError(number, f"there is no section {wanted!r}")
    return at


def _check_index(index: int, messages: list[Json], dropped: set[int], number: int) -> None:
    if index >= len(messages):
        raise EditError(number, f"there is no message {index}; there are {len(messages)}")
    if index in dropped:
        raise EditError(number, f"message {index} was dropped by an edit before this one")


def _orphans(messages: list[Json]) -> set[str]:
    """Ids of tool calls without their answer, and of answers without their call."""
    calls: set[str] = set()
    answers: set[str] = set()
    for message in messages:
        tool_calls = message.get("tool_calls")
        if isinstance(tool_calls, list):
            calls |= {str(call.get("id")) for call in tool_calls if isinstance(call, dict)}
        if message["role"] == "tool":
            answers.add(str(message.get("tool_call_id")))
    return calls ^ answers
