"""Values that people wrote, held against a pydantic model; what is wrong said in our own words, all of it at once.

Models validated here forbid unknown keys, are strict, and give their fields an `examples` entry where a fix can quote
one. A validator of a field raises `FieldError`, whose text then stands in the problem as it is.
"""

from __future__ import annotations

import difflib
import itertools
import json
import math
import re
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from .errors import InputError, Problem
from .jsontext import Json
from .tomllines import Loc, line_index

_Model = TypeVar("_Model", bound=BaseModel)
_SURROGATE = re.compile("[\ud800-\udfff]")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SHOWN = 60

MAX_PROBLEMS = 100
"""How many problems of one value are said. Whoever wrote it may have meant to flood the reader."""


class Strict(BaseModel):
    """The base of all models that are read from files: frozen, no conversions, no unknown keys, names in camelCase."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FieldError(ValueError):
    """What a field's validator raises: what is wrong with the value, and what to write instead."""

    def __init__(self, what: str, fix: str | None = None) -> None:
        super().__init__(what)
        self.fix = fix


@dataclass(frozen=True)
class Origin:
    """Where a document came from, to say where its problems are.

    `toml` is its text, where it is TOML; `table` is what its format calls an object.
    """

    file: str | Path | None = None
    toml: str = ""
    table: str = "an object"

    @cached_property
    def lines(self) -> Mapping[Loc, int]:
        """The line of each value, where the document has lines. Found when they are first asked for."""
        return line_index(self.toml)

    def line(self, loc: Loc) -> int | None:
        """The line of a value, or of the closest value around it that has one."""
        return next((line for end in range(len(loc), 0, -1) if (line := self.lines.get(loc[:end]))), None)

    def problem(self, loc: Loc, what: str, fix: str | None = None) -> Problem:
        """A problem with the value that stands there."""
        return Problem(what, file=self.file, line=self.line(loc), key=dotted(loc) or None, fix=fix)


def dotted(loc: Loc) -> str:
    """A place as people write it: `rules[0].tools`."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            part = part if len(part) <= _SHOWN else f"{part[:_SHOWN]}…"
            name = part if _BARE_KEY.fullmatch(part) else json.dumps(part, ensure_ascii=not part.isprintable())
            text += f".{name}" if text else name
    return text


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Problems of one document in the order of their lines; what has no key either, and so is about all, last."""
    return sorted(problems, key=lambda problem: (problem.key is None, problem.line or 0))


def validate(model: type[_Model], value: Json, origin: Origin, at: Loc = ()) -> _Model:
    """The value as an instance of the model. `at` is where the value stands in its document.

    Raises `InputError` with a problem for everything that is wrong, what JSON does not know included.
    """
    unfit = itertools.islice(_unfit(value, at), MAX_PROBLEMS + 1)
    problems = {loc: origin.problem(loc, what) for loc, what in unfit}
    try:
        # Models may take Python's names from Python; files have one name for each key.
        made = model.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            if detail["type"] == "too_short" and detail["input"]:
                continue  # its items are wrong, which is said of them
            loc = (*at, *detail["loc"])
            if loc not in problems:
                problems[loc] = _problem(model, detail, origin, loc)
            if len(problems) > MAX_PROBLEMS:
                break
    except UnicodeEncodeError:
        pass  # pydantic cannot hold half of a surrogate pair; it is among the problems
    else:
        if not problems:
            return made
    said = list(problems.values())
    if len(said) > MAX_PROBLEMS:
        said[MAX_PROBLEMS:] = [Problem("and more problems than these", file=origin.file)]
    raise InputError(in_order(said))


def _problem(model: type[BaseModel], detail: ErrorDetails, origin: Origin, at: Loc) -> Problem:
    """One of pydantic's errors in our words. `at` is where it stands in the document."""
    loc, kind, context = detail["loc"], detail["type"], detail.get("ctx", {})
    what, fix = "is not valid here", None
    if kind == "extra_forbidden":
        what, fix = "unknown key", _suggestion(model, loc)
    elif kind == "missing":
        what, fix = "is missing", _example(model, loc)
    elif kind in _EXPECTED:
        given = detail["input"]
        fraction = kind == "int_type" and isinstance(given, float)
        what = f"must be {_EXPECTED[kind]}, not {shown(given) if fraction else kind_of(given, origin.table)}"
        fix = _example(model, loc)
    elif kind in ("model_type", "dict_type"):
        what = f"must be {origin.table}, not {kind_of(detail['input'], origin.table)}"
    elif kind in ("literal_error", "enum"):
        what = f"must be {context['expected'].replace(chr(39), chr(34))}, not {shown(detail['input'])}"
    elif kind in _BOUNDS:
        what = f"must be {_range(model, loc) or _BOUNDS[kind].format(**context)}, not {shown(detail['input'])}"
    elif kind == "string_too_long":
        what = f"must have at most {context['max_length']} characters, not {len(detail['input'])}"
    elif kind in ("string_too_short", "too_short"):
        what, fix = "must not be empty", _example(model, loc)
    elif kind == "too_long":
        what = f"must have at most {context['max_length']} items, not {len(detail['input'])}"
    elif kind == "value_error":
        what, fix = str(context["error"]), getattr(context["error"], "fix", None)
    return origin.problem(at, what, fix)


_EXPECTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "an array",
    "list_type": "an array",
}
_BOUNDS = {
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "greater_than": "more than {gt}",
    "less_than": "less than {lt}",
}


def kind_of(value: Json, table: str = "an object") -> str:
    """What a value is, for a sentence."""
    if value is None:
        return "null"
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return table if isinstance(value, dict) else f"a {type(value).__name__}"


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a boolean"),
    ((int, float), "a number"),
    (str, "a string"),
    ((list, tuple), "an array"),
    ((datetime, date, time), "a date or time"),
)


def shown(value: Json) -> str:
    """A value in a sentence: as JSON, cut where it is long, what cannot be seen in it escaped."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        text = text if text.isprintable() else json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return kind_of(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _unfit(value: Json, loc: Loc) -> Iterator[tuple[Loc, str]]:
    """Every value and name within that JSON does not know: dates, NaN, numbers that no double can hold, and so on."""
    stack: list[tuple[Loc, Json]] = [(loc, value)]
    while stack:
        here, item = stack.pop()
        if isinstance(item, dict):
            stack += [((*here, name), each) for name, member in reversed(item.items()) for each in (member, name)]
        elif isinstance(item, (list, tuple)):
            stack += [((*here, index), item[index]) for index in reversed(range(len(item)))]
        elif isinstance(item, str) and _SURROGATE.search(item):
            yield here, "must not hold half of a surrogate pair, which no UTF-8 text can carry"
        elif isinstance(item, (date, time)):
            yield here, "must not be a date or time, which JSON does not know; write it as a string"
        elif isinstance(item, (int, float)) and not _is_double(item):
            yield here, "must be a finite number that a double can hold"


def _is_double(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def keys_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The model's fields by the names that files use for them."""
    return {info.alias or name: info for name, info in model.model_fields.items()}


def model_within(annotation: Any) -> type[BaseModel] | None:
    """The model of a field's type: itself, or what an array or an optional holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in typing.get_args(annotation) if (found := model_within(part))), None)


def _model_at(model: type[BaseModel], loc: Loc) -> type[BaseModel] | None:
    """The model of the table that stands there."""
    here: type[BaseModel] | None = model
    for part in loc:
        if here is not None and isinstance(part, str):
            info = keys_of(here).get(part)
            here = model_within(info.annotation) if info else None
    return here


def _field_at(model: type[BaseModel], loc: Loc) -> FieldInfo | None:
    *above, name = loc or (0,)
    table = _model_at(model, tuple(above))
    return keys_of(table).get(name) if table and isinstance(name, str) else None


def _range(model: type[BaseModel], loc: Loc) -> str | None:
    """`between 1 and 10`, where the field has both bounds."""
    info = _field_at(model, loc)
    bounds: dict[str, Any] = {}
    for item in info.metadata if info else ():
        bounds |= {name: getattr(item, name) for name in ("ge", "le") if hasattr(item, name)}
    return f"between {bounds['ge']} and {bounds['le']}" if len(bounds) == 2 else None


def _example(model: type[BaseModel], loc: Loc) -> str | None:
    info = _field_at(model, loc)
    if info and model_within(info.annotation):
        return f"add the table [{dotted(loc)}]"
    return f"for example {loc[-1]} = {info.examples[0]}" if info and info.examples else None


def _suggestion(model: type[BaseModel], loc: Loc) -> str | None:
    """The key that was probably meant, and those there are."""
    table = _model_at(model, loc[:-1])
    if table is None:
        return None
    known, name = list(keys_of(table)), str(loc[-1])
    close = closest(name, known) or next((path for path in _paths(model) if path.endswith(f".{name}")), None)
    meant = f"did you mean {close}? " if close else ""
    return f"{meant}known here: {', '.join(known)}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like this one, case and separators aside, or None."""
    plain = {re.sub("[_-]", "", one).lower(): one for one in known}
    found = difflib.get_close_matches(re.sub("[_-]", "", name[:100]).lower(), plain, n=1)
    return plain[found[0]] if found else None


def _paths(model: type[BaseModel], above: str = "") -> Iterator[str]:
    for name, info in keys_of(model).items():
        yield above + name
        if below := model_within(info.annotation):
            yield from _paths(below, f"{above}{name}.")
