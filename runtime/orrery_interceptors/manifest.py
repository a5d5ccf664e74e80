"""The manifest: `orrery.toml`, an extension's word about itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from .config.model import Deadlines, Limits, Table
from .errors import InputError, ManifestError, Problem
from .fields import Name, Scopes, Url, Version
from .jsontext import Json
from .rules import Rule, parse_rules
from .tomlfile import TomlFile, read_toml
from .validation import FieldError, Origin, in_order, shown, validate

FILE_NAME = "orrery.toml"
APIS = ("orrery-ext/1",)
"""The APIs that this host understands."""

_API = re.compile("orrery-ext/[0-9]+")
_COMPONENT = re.compile(r"[^\x00-\x1f\x7f-\x9f\\]+\.wasm")


def _check_component(text: str) -> str:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts:
        raise FieldError("must be a path inside the extension's folder, without ..", 'for example "acme_guard.wasm"')
    if not _COMPONENT.fullmatch(text) or path.name == ".wasm":
        raise FieldError("must name a .wasm file", 'for example "acme_guard.wasm"')
    return text


class About(Table):
    """The `[extension]` table."""

    api: Literal["orrery-ext/1"] = Field(examples=['"orrery-ext/1"'])
    name: Name = Field(examples=['"acme-guard"'])
    version: Version = Field(examples=['"1.2.0"'])
    runtime: Literal["wasm"] = Field(examples=['"wasm"'])
    component: Annotated[str, Field(max_length=1024), AfterValidator(_check_component)] | None = None
    description: str = Field(default="", max_length=1024)
    authors: Annotated[tuple[Annotated[str, Field(max_length=256)], ...], Field(strict=False, max_length=64)] = ()
    license: str = Field(default="", max_length=256)
    homepage: Url | None = None


class Requires(Table):
    """The `[requires]` table: what the extension asks to see and change, and what it asks to be told."""

    intercept: Scopes = ()
    watch: Scopes = ()


class AskedLimits(Table):
    """The `[limits]` table: bounds that the extension sets itself, beneath the host's. None: the host's."""

    deadline_ms: int | None = Field(default=None, ge=1)
    fuel: int | None = Field(default=None, ge=1)
    memory_mib: int | None = Field(default=None, ge=1)
    output_kib: int | None = Field(default=None, ge=1)
    payload_kib: int | None = Field(default=None, ge=1)
    in_flight: int | None = Field(default=None, ge=1)
    log_lines: int | None = Field(default=None, ge=1)


class _File(Table):
    extension: About
    requires: Requires = Requires()
    settings: dict[str, Any] = Field(default_factory=dict)
    limits: AskedLimits = AskedLimits()
    rules: Annotated[tuple[Any, ...], Field(strict=False)] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that was read. `data` is the file's bytes, of which the extension's digest is made."""

    folder: Path
    about: About
    requires: Requires
    settings: dict[str, Json]
    limits: AskedLimits
    rules: tuple[Rule, ...]
    data: bytes = field(repr=False)
    origin: Origin = field(repr=False)

    @property
    def name(self) -> str:
        """The extension's name."""
        return self.about.name

    @property
    def version(self) -> str:
        """The extension's version."""
        return self.about.version

    @property
    def component(self) -> Path | None:
        """The component's file, which need not be there yet; None where there are only rules."""
        return None if self.about.component is None else self.folder / self.about.component


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of the extension in this folder.

    Raises `ManifestError` with every problem. A manifest for an API that this host does not know is refused for that
    alone: what else it says may mean something else.
    """
    try:
        toml = read_toml(folder / FILE_NAME)
        return _manifest(folder, toml)
    except InputError as error:
        raise ManifestError(error.problems) from None


def _manifest(folder: Path, toml: TomlFile) -> Manifest:
    origin = toml.origin
    if problem := _foreign_api(toml):
        raise InputError(problem)
    rules, problems = parse_rules(toml.values.get("rules", []), origin)
    try:
        # The rules were read above; what is not even an array is said once.
        file = validate(_File, {key: value for key, value in toml.values.items() if key != "rules"}, origin)
    except InputError as error:
        raise InputError(in_order([*error.problems, *problems])) from None
    component = file.extension.component
    if component is not None and _leads_out(folder, component):
        what = "leads out of the extension's folder through a link"
        problems.append(origin.problem(("extension", "component"), what, "put the file itself into the folder"))
    if component is None and not toml.values.get("rules"):
        what = "has neither a component nor rules, so it does nothing"
        problems.append(origin.problem(("extension",), what, 'add component = "….wasm", or [[rules]]'))
    if problems:
        raise InputError(in_order(problems))
    return Manifest(folder, file.extension, file.requires, file.settings, file.limits, tuple(rules), toml.data, origin)


def _foreign_api(toml: TomlFile) -> Problem | None:
    about = toml.values.get("extension")
    api = about.get("api") if isinstance(about, dict) else None
    if not isinstance(api, str) or not _API.fullmatch(api) or api in APIS:
        return None
    what = f"{shown(api)} is not understood by this host, which understands {', '.join(APIS)}"
    return toml.origin.problem(
        ("extension", "api"), what, "install a newer host, or a version of the extension that is made for this one"
    )


def _leads_out(folder: Path, component: str) -> bool:
    try:
        return not (folder / component).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        # A link that leads round in a circle leads nowhere within the folder either.
        return True


@dataclass(frozen=True, slots=True)
class Effective:
    """The bounds that hold for an extension. `warnings` name those of its own that are above the host's."""

    deadlines: Deadlines
    limits: Limits
    warnings: tuple[Problem, ...] = ()


def effective(manifest: Manifest, deadlines: Deadlines, limits: Limits) -> Effective:
    """The lower of what the host allows and what the manifest asks for, key by key.

    `deadlineMs` bounds every answer, so gates and rewrites alike; `register` keeps the host's deadline.
    """
    warnings: list[Problem] = []
    asked = manifest.limits

    def lower(key: str, asked: int | None, host_key: str, host: int) -> int:
        if asked is not None and asked > host:
            what = f"asks for {asked}, more than the host's {host_key} of {host}, which holds"
            warnings.append(manifest.origin.problem(("limits", key), what))
        return host if asked is None else min(asked, host)

    times = {
        name: lower("deadlineMs", asked.deadline_ms, f"deadlines.{key}", getattr(deadlines, name))
        for name, key in (("gate_ms", "gateMs"), ("rewrite_ms", "rewriteMs"))
    }
    bounds = {
        name: lower(key, getattr(asked, name), f"limits.{key}", getattr(limits, name))
        for key, name in _SHARED_LIMITS.items()
    }
    return Effective(deadlines.model_copy(update=times), limits.model_copy(update=bounds), tuple(warnings))


_SHARED_LIMITS = {
    info.alias or name: name for name, info in AskedLimits.model_fields.items() if name in Limits.model_fields
}
