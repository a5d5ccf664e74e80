"""From an interceptor's verdict to what it means for the payload, or why it is no answer.

The types of the contract already make some answers impossible. What is checked here is the rest: that a mode may give
the answer, that its text parses, that it changes only what it may, and what of the payload it really touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .. import contextedits
from ..jsontext import Json, JsonError, loads
from ..payloads import outcome_problem
from ..points import SPECS, Kind, Mode, Point
from ..reasons import clean, cut
from ..rewriting import Patch, merge, same
from ..verdicts import Answer, Failure, FailureKind, Verdict


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A payload that was rewritten, and how. With an empty patch it is the payload that was asked about."""

    payload: dict[str, Json]
    patch: Patch


@dataclass(frozen=True, slots=True)
class Handled:
    """An outcome in the tool's place."""

    outcome: Json


@dataclass(frozen=True, slots=True)
class Denied:
    """A refusal, in the interceptor's own words."""

    reason: str


Accepted = Rewritten | Handled | Denied | None
"""What an answer means; None is to proceed."""


class _InvalidError(Exception):
    """Why an answer is none."""


def accept(point: Point, mode: Mode, payload: dict[str, Json], verdict: Verdict) -> Accepted | Failure:
    """What a verdict means for a payload of values as `jsontext.loads` gives them. Never raises."""
    spec = SPECS[point]
    answer = verdict.answer
    try:
        if answer is Answer.PROCEED:
            return None
        if answer is Answer.DENY:
            if mode is Mode.REWRITE_ONLY or not spec.may_deny:
                raise _InvalidError(f"a {mode} at {point} may not deny")
            return Denied(verdict.text)
        if mode is Mode.GATE:
            raise _InvalidError(f"a gate allows or denies, and answered {answer}")
        if answer is Answer.HANDLED:
            if not spec.may_handle:
                raise _InvalidError(f"nothing can be handled at {point}")
            return Handled(_outcome(_loads(verdict.text), "handled"))
        return _rewrite(point, payload, _loads(verdict.text))
    except _InvalidError as error:
        what = cut(clean(str(error)), 512)
        return Failure(FailureKind.INVALID_ANSWER, f"gave an invalid answer: {what}")


def _loads(text: str) -> Json:
    try:
        return loads(text)
    except JsonError as error:
        raise _InvalidError(str(error)) from None


def _rewrite(point: Point, payload: dict[str, Json], answer: Json) -> Rewritten:
    if not isinstance(answer, dict):
        raise _InvalidError("a rewrite is an object")
    if point is Point.CONTEXT_BUILD:
        return _edited(payload, answer)
    spec = SPECS[point]
    (name,) = spec.rewritable
    for key, value in answer.items():
        if key not in spec.fields:
            raise _InvalidError(f"{key!r} is not a field of {point}")
        if key != name and not same(payload[key], value):
            raise _InvalidError(f"it may not change {key!r}")
    if name not in answer:
        raise _InvalidError(f"a rewrite at {point} has {name!r}")
    value = _checked(spec.fields[name], payload[name], answer[name])
    merged, patch = merge(payload[name], value, f"/{name}")
    return Rewritten({**payload, name: merged} if patch else payload, patch)


def _checked(kind: Kind, original: Json, value: Json) -> Json:
    if kind is Kind.OUTCOME:
        return _outcome(value, "outcome", original)
    if kind is Kind.OBJECT and not isinstance(value, dict):
        raise _InvalidError("options are an object")
    if kind is Kind.ENTRIES:
        return _kept(original, value)
    return value


def _outcome(value: Json, name: str, original: Json = None) -> Json:
    if (problem := outcome_problem(value)) is not None:
        raise _InvalidError(f"{name}{problem[0]} {problem[1]}")
    if value["t"] == "denied":
        # Who denied is the host's to say: an outcome must not put words into another extension's mouth.
        before: Mapping[str, Json] = original if isinstance(original, dict) else {}
        if before.get("t") != "denied" or not same(before.get("by"), value.get("by")):
            raise _InvalidError("an outcome cannot become denied; answer with a deny")
    return value


def _kept(original: list[Json], value: Json) -> list[Json]:
    """The original entries that an answer keeps, in its order."""
    if not isinstance(value, list):
        raise _InvalidError("entries are an array")
    left: dict[object, list[Json]] = {}
    for entry in original:
        left.setdefault(_id(entry["id"]), []).append(entry)
    kept: list[Json] = []
    for index, item in enumerate(value):
        if not isinstance(item, dict) or "id" not in item:
            raise _InvalidError(f"entries/{index} is an object with an id")
        candidates = left.get(_id(item["id"]), [])
        entry = next((one for one in candidates if all(same(one.get(key), item[key]) for key in item)), None)
        if entry is None:
            why = "no text of an entry may change" if candidates else "no entry may be added"
            raise _InvalidError(f"entries/{index} is not one of those that memory returned; {why}")
        candidates.remove(entry)
        kept.append(entry)
    return kept


def _id(value: Json) -> object:
    """A hashable stand-in for an entry's id. Numbers are read as doubles, as guests may have done."""
    if isinstance(value, (str, bool)) or value is None:
        return type(value), value
    return ("number", float(value)) if isinstance(value, (int, float)) else repr(value)


def _edited(payload: dict[str, Json], answer: Mapping[str, Json]) -> Rewritten:
    if set(answer) != {"edits"}:
        raise _InvalidError("a rewrite at context.build is an object with `edits` alone")
    try:
        return Rewritten(*contextedits.apply(payload, contextedits.parse(answer["edits"])))
    except contextedits.EditError as error:
        raise _InvalidError(str(error)) from None
