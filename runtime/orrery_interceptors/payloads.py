"""Payloads: what is asked about at a point, checked once where it enters.

A payload is a JSON object with the fields of its point (`points.SPECS`). The models below are the typed face of the
same objects; inside, a payload is a plain dict whose values are never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from .errors import PayloadError, Problem
from .jsontext import Json
from .points import SPECS, Kind, Point


class Payload(BaseModel):
    """A payload of one of the five points. Frozen; what it holds is not copied and must not be changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    point: ClassVar[Point]


class ToolBefore(Payload):
    """A tool call that is about to be made."""

    point = Point.TOOL_BEFORE
    tool: str
    input: Any


class ToolAfter(Payload):
    """A tool call that was made. `outcome` is tagged by `t`; see `outcomes`."""

    point = Point.TOOL_AFTER
    tool: str
    input: Any
    outcome: dict[str, Any]


class ContextBuild(Payload):
    """The context before it is sent. `budget_tokens` is what it may take, where that is known."""

    point = Point.CONTEXT_BUILD
    sections: list[dict[str, Any]] = Field(default_factory=list)
    recalled: list[dict[str, Any]] = Field(default_factory=list)
    messages: list[dict[str, Any]] = Field(default_factory=list)
    budget_tokens: int | None = Field(default=None, alias="budgetTokens")


class MemoryRecall(Payload):
    """What memory answered to a query, best first."""

    point = Point.MEMORY_RECALL
    query: str
    entries: list[dict[str, Any]]


class ProviderBefore(Payload):
    """A request that is about to be sent, without its conversation."""

    point = Point.PROVIDER_BEFORE
    model: str
    options: dict[str, Any]


def fields_of(point: Point, payload: Payload | Mapping[str, Json]) -> dict[str, Json]:
    """The payload's fields as a new dict, checked against the point's table.

    Raises `PayloadError` when a field is missing, unknown or of the wrong kind. Values of free shape are not looked
    into: what no JSON text can carry is found when the text is made.
    """
    if isinstance(payload, Payload):
        if payload.point is not point:
            raise PayloadError(Problem(f"a payload of {payload.point} was given to {point}"))
        values = {(info.alias or name): getattr(payload, name) for name, info in type(payload).model_fields.items()}
        if values.get("budgetTokens", 0) is None:
            del values["budgetTokens"]
    elif isinstance(payload, Mapping):
        values = dict(payload)
    else:
        raise PayloadError(Problem(f"the payload is a {type(payload).__name__}, not an object"))
    spec = SPECS[point]
    if values.keys() == spec.fields.keys() and all(
        _CHECKS[kind](values[name]) is None for name, kind in spec.fields.items()
    ):
        return values
    problems: list[Problem] = []
    for name, kind in spec.fields.items():
        if name not in values:
            if name not in spec.optional:
                problems.append(Problem(f"is missing; {point} takes {', '.join(spec.fields)}", key=f"/{name}"))
        elif (wrong := _CHECKS[kind](values[name])) is not None:
            problems.append(Problem(wrong[1], key=f"/{name}{wrong[0]}"))
    problems += [
        Problem(f"is not a field of {point}, which takes {', '.join(spec.fields)}", key=f"/{name}")
        for name in values
        if name not in spec.fields
    ]
    if problems:
        raise PayloadError(problems)
    return values


_Wrong = tuple[str, str] | None


def _text(value: Json) -> _Wrong:
    return None if isinstance(value, str) else ("", f"must be a string, not {_name(value)}")


def _json(value: Json) -> _Wrong:
    return None


def _object(value: Json) -> _Wrong:
    return None if isinstance(value, dict) else ("", f"must be an object, not {_name(value)}")


def _count(value: Json) -> _Wrong:
    fine = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64
    return None if fine else ("", "must be a whole number of tokens, 0 or more")


def _objects(value: Json, members: Mapping[str, type]) -> _Wrong:
    if not isinstance(value, list):
        return "", f"must be an array, not {_name(value)}"
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            return f"/{index}", f"must be an object, not {_name(item)}"
        for name, kind in members.items():
            if name not in item:
                return f"/{index}", f"has no {name!r}"
            if not isinstance(item[name], kind):
                return f"/{index}/{name}", f"must be a string, not {_name(item[name])}"
    return None


def _sections(value: Json) -> _Wrong:
    return _objects(value, {"id": str, "text": str})


def _entries(value: Json) -> _Wrong:
    # An entry's id is the memory's own: some give strings, some numbers.
    return _objects(value, {"id": object, "text": str})


def _messages(value: Json) -> _Wrong:
    return _objects(value, {"role": str})


_OUTCOMES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "ok": {"value": (object,)},
    "error": {"message": (str,)},
    "denied": {"reason": (str,)},
    "truncated": {},
    "cancelled": {},
}


def outcome_problem(value: Json) -> tuple[str, str] | None:
    """What is wrong with a value that should be an outcome: a pointer into it and a sentence, or None."""
    if not isinstance(value, dict):
        return "", f"must be an outcome, an object tagged by t, not {_name(value)}"
    tag = value.get("t")
    members = _OUTCOMES.get(tag) if isinstance(tag, str) else None
    if members is None:
        return "/t", f"must be one of {', '.join(_OUTCOMES)}"
    for name, kinds in members.items():
        if name not in value:
            return "", f"an outcome {tag!r} has a {name!r}"
        if not isinstance(value[name], kinds):
            return f"/{name}", f"must be a string, not {_name(value[name])}"
    return None


def _name(value: Json) -> str:
    if value is None:
        return "null"
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), f"a {type(value).__name__}")


_CHECKS: Mapping[Kind, Callable[[Json], _Wrong]] = {
    Kind.TEXT: _text,
    Kind.JSON: _json,
    Kind.OBJECT: _object,
    Kind.OUTCOME: outcome_problem,
    Kind.SECTIONS: _sections,
    Kind.ENTRIES: _entries,
    Kind.MESSAGES: _messages,
    Kind.COUNT: _count,
}
