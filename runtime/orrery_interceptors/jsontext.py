"""JSON texts, read strictly and written compactly (RFC 8259, narrowed by I-JSON, RFC 7493).

What two readers could understand differently is refused, because a guard and a tool must never see two different
values: repeated member names, NaN and the infinities, numbers that no double can hold, lone surrogates, a byte order
mark, and anything nested deeper than `MAX_DEPTH`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

Json = Any
"""A JSON value: None, bool, int, float, str, list of values, dict from str to value."""

MAX_DEPTH = 128
"""How deep a value may nest: this many arrays and objects within each other are fine, one more is not."""

RECORD_DEPTH = MAX_DEPTH + 16
"""How deep what we write around payloads may nest: decisions, events, records."""

_MAX_DIGITS = 309
_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonError(ValueError):
    """A text that is not JSON as we accept it, or a value that has no such text.

    `line` and `column` count from 1 and are set when a text was read; `pointer` (RFC 6901) is set where the trouble
    lies within a value.
    """

    def __init__(
        self, what: str, *, line: int | None = None, column: int | None = None, pointer: str | None = None
    ) -> None:
        self.what = what
        self.line = line
        self.column = column
        self.pointer = pointer
        where = f" at {pointer or 'the root'}" if pointer is not None else ""
        if line is not None:
            where += f" (line {line}, column {column})"
        super().__init__(what + where)


def loads(text: str | bytes, depth: int = MAX_DEPTH) -> Json:
    """Read one JSON text that nests no deeper than `depth`.

    Raises `JsonError` for everything that the module refuses.
    """
    if isinstance(text, bytes):
        text = _decoded(text)
    if text.startswith("\ufeff"):
        raise JsonError("starts with a byte order mark, which JSON does not allow", line=1, column=1)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        what = "empty" if not text.strip() else f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise JsonError(what, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise JsonError(_TOO_DEEP) from None
    if text.count("[") + text.count("{") > depth:
        check_depth(value, depth)
    if "\\u" in text:
        check_surrogates(value)
    return value


def dumps(value: Json, depth: int = MAX_DEPTH) -> str:
    """The value as a compact text in UTF-8's repertoire, members in the order they stand, no deeper than `depth`.

    Raises `JsonError`, with a pointer, for a value that has no such text.
    """
    try:
        text = "".join(_CHUNKS(value, 0))
        if not text.isascii():
            text.encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        _explain(value, error)
    # A text that nests so deep is at least so long.
    if len(text) > 2 * depth and text.count("[") + text.count("{") > depth:
        check_depth(value, depth)
    return text


def check_depth(value: Json, depth: int = MAX_DEPTH) -> None:
    """Raise `JsonError` when the value nests deeper than `depth`. Walks by level, so it cannot itself overflow."""
    level = [value] if isinstance(value, (dict, list, tuple)) else []
    for _ in range(depth):
        if not level:
            return
        below: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                below += [member for member in item.values() if isinstance(member, (dict, list, tuple))]
            elif isinstance(item, (list, tuple)):
                below += [member for member in item if isinstance(member, (dict, list, tuple))]
        level = below
    if level:
        raise JsonError(f"nested deeper than the depth limit of {depth}")


def check_surrogates(value: Json) -> None:
    """Raise `JsonError` where a string holds half of a surrogate pair, which no UTF-8 text can carry."""
    for pointer, item in _walk(value):
        if isinstance(item, str) and _SURROGATE.search(item):
            raise JsonError("a lone surrogate, which no UTF-8 text can carry", pointer=pointer)


_TOO_DEEP = f"nested deeper than the depth limit of {MAX_DEPTH}"


def escape(token: str) -> str:
    """A member name as one token of a JSON pointer (RFC 6901 section 3)."""
    return token.replace("~", "~0").replace("/", "~1") if "~" in token or "/" in token else token


def _walk(value: Json) -> Iterator[tuple[str, Json]]:
    """Every value within, with its pointer; a member's name is yielded as a value of its own, before it."""
    stack = [("", value)]
    while stack:
        pointer, item = stack.pop()
        yield pointer, item
        if isinstance(item, dict):
            for name, member in item.items():
                below = f"{pointer}/{escape(str(name))}"
                yield pointer if isinstance(name, str) and _SURROGATE.search(name) else below, name
                stack.append((below, member))
        elif isinstance(item, (list, tuple)):
            stack.extend((f"{pointer}/{index}", member) for index, member in enumerate(item))


def _explain(value: Json, error: Exception) -> NoReturn:
    """Say where in the value the encoder's trouble is."""
    if isinstance(error, RecursionError) or "Circular" in str(error):
        raise JsonError(_TOO_DEEP) from None
    for pointer, item in _walk(value):
        if isinstance(item, float) and not math.isfinite(item):
            raise JsonError(f"{item} is not a JSON number", pointer=pointer) from None
        if isinstance(item, str) and _SURROGATE.search(item):
            raise JsonError("a lone surrogate, which no UTF-8 text can carry", pointer=pointer) from None
        if item is not None and not isinstance(item, (str, int, float, dict, list, tuple)):
            raise JsonError(f"a {type(item).__name__} is not a JSON value", pointer=pointer) from None
    raise JsonError(f"has no JSON text: {error}") from None


def _members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise JsonError(f"the member {name!r} stands twice in one object")
            seen.add(name)
    return members


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise JsonError(f"the number {_short(digits)} is larger than a double can hold")
    return number


def _int(digits: str) -> int:
    if len(digits) >= _MAX_DIGITS:
        _float(digits)
    return int(digits)


def _constant(name: str) -> NoReturn:
    raise JsonError(f"{name} is not JSON")


def _short(digits: str) -> str:
    return digits if len(digits) <= 24 else f"{digits[:20]}… ({len(digits)} characters)"


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = data.count(b"\n", 0, error.start) + 1, error.start - data.rfind(b"\n", 0, error.start)
        raise JsonError(f"not UTF-8: {error.reason}", line=line, column=column) from None


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=_float, parse_int=_int, parse_constant=_constant, strict=True
)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)
_MAKE: Any = getattr(json.encoder, "c_make_encoder", None)
# What `JSONEncoder.encode` makes anew for each value, made once. The interface is the standard library's own; where it
# is not there the public one is used.
_CHUNKS: Callable[[Json, int], Iterable[str]] = (
    _MAKE(None, _ENCODER.default, json.encoder.encode_basestring, None, ":", ",", False, False, False)
    if _MAKE is not None
    else lambda value, indent: (_ENCODER.encode(value),)
)
