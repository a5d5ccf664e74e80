"""What an extension registers, held against what its manifest declares.

Each interceptor, rule and watcher is taken whole or not at all, and each that is not taken is a problem that says why
and what to add. None of them keeps the others from being taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field

from ..errors import InputError, Problem
from ..fields import MAX_ITEMS, Pattern, Patterns
from ..jsontext import Json, JsonError, loads
from ..manifest import Manifest
from ..patterns import Scope, is_covered
from ..points import SPECS, Mode, Point
from ..reasons import clean, cut
from ..rules import Refuse, Rule, parse_rules
from ..validation import FieldError, Origin, Strict, kind_of, validate

_NAME = re.compile("[a-z0-9][a-z0-9._-]{0,63}")


def _check_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise FieldError(
            "must be 1 to 64 lower-case letters, digits, dots, hyphens and underscores, a letter or digit first"
        )
    return text


def _point(text: Any) -> Point:
    try:
        return Point(text)
    except ValueError:
        raise FieldError(f"is not a point; the points are {', '.join(Point)}") from None


_Name = Annotated[str, AfterValidator(_check_name)]
_AnyPoint = Annotated[str, AfterValidator(_point)]


class Interceptor(Strict):
    """One interceptor as it is registered. Empty `tools` or `agents` means every one."""

    name: _Name
    point: _AnyPoint
    mode: Mode = Field(strict=False)
    tools: Patterns = ()
    agents: Patterns = ()


class Watcher(Strict):
    """One watcher as it is registered. Empty `points`, `tools` or `agents` means every one."""

    name: _Name
    points: Annotated[tuple[_AnyPoint, ...], Field(strict=False)] = ()
    tools: Patterns = ()
    agents: Patterns = ()


@dataclass(frozen=True, slots=True)
class Registration:
    """What was taken, and why the rest was not."""

    interceptors: tuple[Interceptor, ...] = ()
    rules: tuple[Rule, ...] = ()
    watchers: tuple[Watcher, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_registration(text: str, manifest: Manifest) -> Registration:
    """Read the text that `register` returned, and the manifest's own rules. Never raises."""
    file = manifest.origin.file
    origin = Origin(file)
    problems: list[Problem] = []
    values: dict[str, Json] = {}
    try:
        answer = loads(text)
        if not isinstance(answer, dict):
            raise InputError(Problem(f"what it registers must be an object, not {kind_of(answer)}", file=file))
        values = answer
    except JsonError as error:
        problems.append(Problem(f"what it registers is not JSON: {error}", file=file))
    except InputError as error:
        problems += error.problems
    problems += [
        Problem(f"registers {cut(clean(repr(key)), 100)}, which this host does not know", file=file)
        for key in values
        if key not in ("interceptors", "rules", "watchers")
    ]
    reading = _Reading(manifest, origin, problems)
    interceptors = tuple(reading.interceptors(values.get("interceptors", [])))
    found, wrong = parse_rules(values.get("rules", []), origin)
    problems += wrong
    rules = tuple(reading.covered_rules([*manifest.rules, *found]))
    watchers = tuple(reading.watchers(values.get("watchers", [])))
    return Registration(interceptors, rules, watchers, tuple(problems))


def manifest_rules(manifest: Manifest) -> Registration:
    """What an extension without a component registers: its manifest's rules."""
    return read_registration("{}", manifest)


_Item = TypeVar("_Item", Interceptor, Watcher)


class _Reading:
    """Reads the parts of one registration; collects problems."""

    def __init__(self, manifest: Manifest, origin: Origin, problems: list[Problem]) -> None:
        self.manifest = manifest
        self.origin = origin
        self.problems = problems

    def interceptors(self, values: Json) -> Iterator[Interceptor]:
        for item in self._items(values, Interceptor, "interceptors"):
            spec = SPECS[Point(item.point)]
            name = f"interceptor {item.name}"
            if not spec.allows(item.mode):
                self._problem(
                    f"{name}: nothing can be denied at {item.point}, so it has no gates", "register a rewrite"
                )
            elif item.tools and not spec.has_tool:
                self._problem(f"{name}: {item.point} is not about tools", "register it without tools")
            elif self._covered(name, "intercept", self.manifest.requires.intercept, [Point(item.point)], item.tools):
                yield item

    def watchers(self, values: Json) -> Iterator[Watcher]:
        for item in self._items(values, Watcher, "watchers"):
            points = [Point(point) for point in item.points] or list(Point)
            if self._covered(f"watcher {item.name}", "watch", self.manifest.requires.watch, points, item.tools):
                yield item

    def covered_rules(self, rules: list[Rule]) -> Iterator[Rule]:
        scopes = self.manifest.requires.intercept
        for index, rule in enumerate(rules):
            tools = rule.tools if isinstance(rule, Refuse) else (rule.tool,)
            if self._covered(f"{rule.t} rule {index + 1}", "intercept", scopes, [Point.TOOL_BEFORE], tools):
                yield rule

    def _items(self, values: Json, model: type[_Item], what: str) -> Iterator[_Item]:
        """The items that are right, each with a name of its own."""
        file = self.origin.file
        if not isinstance(values, list):
            self.problems.append(Problem(f"registers {what} that are {kind_of(values)}, not an array", file=file))
            return
        if len(values) > MAX_ITEMS:
            self.problems.append(Problem(f"registers {len(values)} {what}; at most {MAX_ITEMS} are taken", file=file))
            return
        seen: set[str] = set()
        for index, value in enumerate(values):
            try:
                item = validate(model, value, self.origin, (what, index))
            except InputError as error:
                self.problems += error.problems
                continue
            if item.name in seen:
                self._problem(f"registers two {what} of the name {item.name}; the second is not taken", "rename one")
                continue
            seen.add(item.name)
            yield item

    def _covered(
        self, name: str, key: str, scopes: tuple[Scope, ...], points: list[Point], tools: tuple[Pattern, ...]
    ) -> bool:
        missing = [
            str(Scope(point, tool))
            for point in points
            for tool in (tools if tools and SPECS[point].has_tool else ("*",))
            if not is_covered(scopes, point, tool)
        ]
        if not missing:
            return True
        wanted = ", ".join(f'"{scope}"' for scope in dict.fromkeys(missing))
        declared = f"declares only {', '.join(map(str, scopes))}" if scopes else f"declares no {key}"
        self._problem(
            f"{name} is not registered: the manifest {declared} under [requires]",
            f"add {wanted} to {key} under [requires]",
            f"requires.{key}",
        )
        return False

    def _problem(self, what: str, fix: str, key: str | None = None) -> None:
        self.problems.append(Problem(what, file=self.origin.file, key=key, fix=fix))
