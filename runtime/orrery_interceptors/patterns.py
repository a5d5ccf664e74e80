"""Tool and agent patterns, and the scopes of manifests.

A pattern matches whole names, case-sensitively; `*` is any run of characters, the empty one included. Names are not
normalised in any way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .points import SPECS, Point

MAX_PATTERN = 256


def matches(pattern: str, name: str) -> bool:
    """Whether the pattern matches the whole name. Takes time linear in both: patterns come from strangers."""
    if "*" not in pattern:
        return pattern == name
    first, *middle, last = pattern.split("*")
    at, end = len(first), len(name) - len(last)
    if end < at or not name.startswith(first) or not name.endswith(last):
        return False
    for part in middle:
        if (found := name.find(part, at, end)) < 0:
            return False
        at = found + len(part)
    return True


def covers(wide: str, narrow: str) -> bool:
    """Whether every name that `narrow` matches is matched by `wide`.

    A star of `narrow` stands for any run, so it is replaced by a character that `wide` does not spell: only a star of
    `wide` can take that in, and then it takes in anything else in its place.
    """
    if "*" not in narrow:
        return matches(wide, narrow)
    stranger = next(char for code in range(0xE000, 0xF8FF) if (char := chr(code)) not in wide and char not in narrow)
    return matches(wide, re.sub(r"\*+", stranger, narrow))


def pattern_problem(pattern: str) -> str | None:
    """What is wrong with a pattern, or None."""
    if not pattern:
        return "an empty pattern matches nothing"
    if len(pattern) > MAX_PATTERN:
        return f"a pattern has at most {MAX_PATTERN} characters, this one {len(pattern)}"
    if pattern != pattern.strip() or not pattern.isprintable():
        return "a pattern has no spaces around it and no control characters"
    if any(char in pattern for char in "?[]{}"):
        return "`*` is the only wildcard; `?`, `[` and `{` would be taken literally"
    return None


@dataclass(frozen=True, slots=True)
class Scope:
    """One entry of `[requires]`: a point and, at the tool points, a pattern of tools."""

    point: Point
    tools: str = "*"

    def __str__(self) -> str:
        return f"{self.point}:{self.tools}" if self.tools != "*" else str(self.point)

    def covers(self, point: Point, tools: str) -> bool:
        """Whether calls of these tools at this point lie within the scope."""
        return self.point is point and (not SPECS[point].has_tool or covers(self.tools, tools))


def parse_scope(text: str) -> Scope:
    """Read `point` or `point:tool-pattern`.

    Raises `ValueError` with a sentence that says what to write instead.
    """
    name, colon, tools = text.partition(":")
    try:
        point = Point(name)
    except ValueError:
        raise ValueError(f"{name!r} is not a point; the points are {', '.join(Point)}") from None
    if not colon:
        return Scope(point)
    if not SPECS[point].has_tool:
        raise ValueError(f"{point} is not about tools; write {str(point)!r} alone")
    if problem := pattern_problem(tools):
        raise ValueError(f"{tools!r}: {problem}")
    return Scope(point, re.sub(r"\*+", "*", tools))


def is_covered(scopes: tuple[Scope, ...], point: Point, tools: str) -> bool:
    """Whether one of the scopes covers these tools at this point."""
    return any(scope.covers(point, tools) for scope in scopes)
