"""Rules: what the host applies with no call at all, from a manifest or from what an extension registers.

`refuse` denies the tools that it names. `default` fills a field of a tool's input where the call leaves it out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from jsonpointer import JsonPointer, JsonPointerException
from pydantic import AfterValidator, Field

from .errors import InputError, Problem
from .fields import MAX_ITEMS, Pattern, Patterns
from .jsontext import MAX_DEPTH, Json, JsonError, check_depth, check_surrogates
from .tomllines import Loc
from .validation import FieldError, Origin, Strict, kind_of, shown, validate

MAX_STEPS = 64
"""How many steps a rule's pointer may have."""

_INDEX = re.compile("0|[1-9][0-9]*")


def _check_pointer(text: str) -> str:
    try:
        check_surrogates(text)
        steps = _steps(text)
    except (JsonPointerException, JsonError):
        raise FieldError(
            f"{shown(text)} is not a JSON pointer (RFC 6901)",
            'it is empty or starts with /; in a name, ~ is written ~0 and / is written ~1, such as "/options/timeout"',
        ) from None
    if len(steps) > MAX_STEPS:
        raise FieldError(f"a pointer has at most {MAX_STEPS} steps, this one {len(steps)}")
    return text


def _check_reason(text: str) -> str:
    if not text.strip():
        raise FieldError("must not be empty", 'say why, for example reason = "read-only session"')
    return text


def _steps(pointer: str) -> tuple[str, ...]:
    return tuple(JsonPointer(pointer).parts)


class Refuse(Strict):
    """Deny every call of the tools. `reason` is shown to the model and the user, cleaned and cut as denials are."""

    t: Literal["refuse"] = "refuse"
    tools: Patterns = Field(min_length=1, examples=['["builtin.write"]'])
    reason: Annotated[str, AfterValidator(_check_reason)] = Field(examples=['"read-only session"'])


class Default(Strict):
    """Set a field of the input of the tools that `tool` names, where the call leaves it out.

    `pointer` (RFC 6901) leads to the field. The empty pointer names the whole input, which is always there.
    """

    t: Literal["default"] = "default"
    tool: Pattern = Field(examples=['"builtin.bash"'])
    pointer: Annotated[str, AfterValidator(_check_pointer)] = Field(examples=['"/timeout"'])
    value: Any = Field(examples=["60000"])


Rule = Refuse | Default

_MODELS: Mapping[str, type[Rule]] = {"refuse": Refuse, "default": Default}


def parse_rules(values: Json, origin: Origin, at: Loc = ("rules",)) -> tuple[list[Rule], list[Problem]]:
    """Read an array of rules: those that are right, and every problem of those that are not.

    `at` is where the array stands in its document. Never raises, whatever the values.
    """
    if not isinstance(values, (list, tuple)):
        return [], [origin.problem(at, f"must be an array of rules, not {kind_of(values, origin.table)}")]
    if len(values) > MAX_ITEMS:
        return [], [origin.problem(at, f"must have at most {MAX_ITEMS} rules, not {len(values)}")]
    rules: list[Rule] = []
    problems: list[Problem] = []
    for index, value in enumerate(values):
        try:
            rules.append(_rule(value, origin, (*at, index)))
        except InputError as error:
            problems += error.problems
    return rules, problems


def _rule(value: Json, origin: Origin, at: Loc) -> Rule:
    if not isinstance(value, dict):
        raise InputError(origin.problem(at, f"a rule must be {origin.table}, not {kind_of(value, origin.table)}"))
    tag = value.get("t")
    model = _MODELS.get(tag) if isinstance(tag, str) else None
    if model is None:
        what = f'must be "refuse" or "default", not {shown(tag)}' if "t" in value else "is missing"
        raise InputError(origin.problem((*at, "t"), what, 'write t = "refuse" or t = "default"'))
    rule = validate(model, value, origin, at)
    if isinstance(rule, Default) and _too_deep(rule):
        raise InputError(origin.problem((*at, "value"), f"would nest the input deeper than {MAX_DEPTH} levels"))
    return rule


def _too_deep(rule: Default) -> bool:
    value = rule.value
    for _ in _steps(rule.pointer):
        value = [value]
    try:
        check_depth(value)
    except JsonError:
        return True
    return False


class Effect(StrEnum):
    """What a default did to an input."""

    SET = "set"
    KEPT = "kept"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Applied:
    """The input that goes on, and what happened. `why` is a sentence for the log where the default was blocked."""

    value: Json
    effect: Effect
    why: str = ""


def apply_default(rule: Default, value: Json) -> Applied:
    """Fill the rule's field in a tool's input, if it is left out.

    What is there stays, null included. Missing objects on the way are created; elements of arrays may be walked
    through, and no array is ever extended; where anything else is in the way, the input stays as it is. The argument
    is not changed: what is returned shares all of it but the objects and arrays on the way.
    """
    steps = _steps(rule.pointer)
    above: list[tuple[Json, str | int]] = []
    here = value
    for depth, step in enumerate(steps):
        if isinstance(here, dict):
            if step not in here:
                return Applied(_filled(above, here, steps[depth:], rule.value), Effect.SET)
            above.append((here, step))
            here = here[step]
            continue
        place = JsonPointer.from_parts(steps[:depth]).path or "the input"
        if not isinstance(here, list):
            return Applied(value, Effect.BLOCKED, f"{place} is {kind_of(here)}, not an object")
        # As text first: a number of thousands of digits is no index, and Python would not read it.
        if not _INDEX.fullmatch(step) or len(step) > len(str(len(here))) or int(step) >= len(here):
            what = f"{place} is an array of {len(here)} without an element {shown(step)}"
            return Applied(value, Effect.BLOCKED, f"{what}, and arrays are not extended")
        above.append((here, int(step)))
        here = here[int(step)]
    return Applied(value, Effect.KEPT)


def _filled(above: list[tuple[Json, str | int]], parent: dict[str, Json], steps: tuple[str, ...], value: Json) -> Json:
    """The value set below `parent`, and what is above copied along the way."""
    first, *created = steps
    for step in reversed(created):
        value = {step: value}
    value = {**parent, first: value}
    for container, at in reversed(above):
        copy = container.copy()
        copy[at] = value
        value = copy
    return value
