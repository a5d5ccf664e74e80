"""Tables of cases: what an extension is asked, and what must be decided (`cases.toml`, docs/cases.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from .config import Config
from .decisions import Decision
from .errors import InputError, LoadError, PayloadError, Problem
from .jsontext import Json, JsonError, dumps, loads
from .points import Point, Site
from .registry import Declared, Registry, load_registry
from .rewriting import same
from .runtime import Runtime
from .sandbox import Sandbox
from .tomlfile import read_toml
from .validation import FieldError, Strict, validate

FILE_NAME = "cases.toml"
VERSION = 1


def _check_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise FieldError(f"is not a regular expression: {error}") from None
    return text


def _read_json(text: str) -> Any:
    try:
        return loads(text)
    except JsonError as error:
        raise FieldError(f"is not JSON: {error}") from None


def _check_version(number: int) -> int:
    if number != VERSION:
        raise FieldError(f"version {number} is not understood; this host understands {VERSION}")
    return number


_Json = Annotated[str, AfterValidator(_read_json)]


class CaseSite(Strict):
    """Where the call of a case happens."""

    session: str = "cases"
    turn: int = Field(default=1, ge=0)
    pass_: int = Field(default=1, ge=0, alias="pass")
    agent: str = "main"
    call: str | None = None


class Case(Strict):
    """One case. Of each pair `x` and `x_json` at most one is given; the second is JSON text."""

    name: Annotated[str, Field(min_length=1, max_length=256)]
    point: Point = Field(strict=False)
    payload: dict[str, Any] | None = None
    payload_json: _Json | None = None
    site: CaseSite = CaseSite()
    settings: dict[str, Any] = Field(default_factory=dict)
    decision: Literal["proceed", "deny", "handled"]
    changed: bool | None = None
    reason: Annotated[str, AfterValidator(_check_pattern)] | None = None
    kind: str | None = None
    payload_after: dict[str, Any] | None = None
    payload_after_json: _Json | None = None
    patch_json: _Json | None = None
    fuel: int | None = Field(default=None, ge=1)

    def asked(self) -> Json:
        """The payload."""
        return self.payload if self.payload is not None else self.payload_json


class _File(Strict):
    version: Annotated[int, AfterValidator(_check_version)]
    case: Annotated[tuple[Case, ...], Field(strict=False, min_length=1)]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of a case. `wrong` says what is not as expected; empty when all of it is."""

    case: Case
    decision: Decision | None
    wrong: tuple[str, ...]
    fuel: int = 0
    duration_us: int = 0

    @property
    def passed(self) -> bool:
        """Whether all is as expected."""
        return not self.wrong


def read_cases(path: Path) -> tuple[Case, ...]:
    """Read a table of cases. Raises `InputError` with every problem."""
    toml = read_toml(path)
    file = validate(_File, toml.values, toml.origin)
    problems: list[Problem] = []
    names: set[str] = set()
    for index, case in enumerate(file.case):
        at = ("case", index)
        if case.name in names:
            problems.append(toml.origin.problem((*at, "name"), "the name of a case before this one too"))
        names.add(case.name)
        if (case.payload is None) == (case.payload_json is None):
            problems.append(toml.origin.problem(at, "has either payload or payload_json"))
        if case.payload_after is not None and case.payload_after_json is not None:
            problems.append(toml.origin.problem(at, "has both payload_after and payload_after_json"))
    if problems:
        raise InputError(problems)
    return file.case


class CaseRunner:
    """Runs the cases of one extension. Each set of settings is loaded once."""

    def __init__(self, folder: Path, sandbox: Sandbox, config: Config | None = None) -> None:
        self._folder = folder
        self._sandbox = sandbox
        self._config = config or Config()
        self._loaded: dict[str, Runtime] = {}

    def run(self, case: Case) -> CaseResult:
        """Run a case. Raises `LoadError` when the extension cannot be loaded with its settings."""
        runtime = self._runtime(case.settings)
        site = Site(case.site.session, case.site.turn, case.site.pass_, case.site.agent, case.site.call)
        asked = case.asked()
        try:
            decision = runtime.decide(case.point, asked if isinstance(asked, dict) else {"payload": asked}, site)
        except PayloadError as error:
            return CaseResult(case, None, tuple(str(problem) for problem in error.problems))
        fuel = sum(entry.fuel or 0 for entry in decision.trail)
        duration = sum(entry.duration_us for entry in decision.trail)
        return CaseResult(case, decision, tuple(_wrong(case, decision, fuel)), fuel, duration)

    def _runtime(self, settings: Mapping[str, Json]) -> Runtime:
        key = dumps(dict(settings))
        runtime = self._loaded.get(key)
        if runtime is None:
            declared = replace(Declared.by_path(self._folder), settings=dict(settings))
            registry: Registry = load_registry([declared], self._config, self._sandbox)
            if registry.problems:
                raise LoadError(registry.problems)
            runtime = self._loaded[key] = Runtime(registry, self._sandbox, config=self._config)
        return runtime


def _wrong(case: Case, decision: Decision, fuel: int) -> list[str]:
    wrong: list[str] = []
    if decision.decision != case.decision:
        said = f" ({decision.reason})" if decision.reason else ""
        wrong.append(f"decision: {decision.decision}{said}, not {case.decision}")
    if case.changed is not None and decision.changed != case.changed:
        wrong.append(f"changed: {decision.changed}, not {case.changed}")
    if case.reason is not None and not re.search(case.reason, decision.reason or ""):
        wrong.append(f"reason: {decision.reason!r} has no {case.reason!r}")
    if case.kind is not None and (decision.by is None or decision.by.kind != case.kind):
        wrong.append(f"kind: {decision.by.kind if decision.by else None}, not {case.kind}")
    after = case.payload_after if case.payload_after is not None else case.payload_after_json
    if after is not None and not same(after, decision.payload):
        wrong.append(f"payload_after: {dumps(decision.payload)}, not {dumps(after)}")
    if case.patch_json is not None:
        patch = [operation for entry in decision.trail for operation in entry.patch or ()]
        if not same(case.patch_json, patch):
            wrong.append(f"patch: {dumps(patch)}, not {dumps(case.patch_json)}")
    if case.fuel is not None and fuel > case.fuel:
        wrong.append(f"fuel: {fuel}, more than {case.fuel}")
    return wrong
