"""From a folder to an extension in force, or to what is wrong with it.

Nothing an extension does while it is loaded takes another one down, and nothing of it is in force unless all of it that
can be is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..config import Config, Deadlines, Extension, Layer, Limits, LockEntry, compare
from ..digests import extension_digest
from ..errors import InputError, Problem
from ..jsontext import Json, JsonError, dumps
from ..manifest import FILE_NAME, Effective, Manifest, effective, read_manifest
from ..patterns import Scope
from ..points import Mode
from ..reasons import clean
from ..sandbox import Bounds, ComponentError, Loaded, Sandbox
from ..verdicts import Failure
from .extension import LoadedExtension, RegisteredInterceptor, RegisteredWatcher
from .registration import Registration, manifest_rules, read_registration


@dataclass(frozen=True, slots=True)
class Declared:
    """An extension that someone asked for. `lock` is what was agreed to, None where nothing was.

    `trusted` means that no agreement is needed: the caller named the folder.
    """

    folder: Path
    layer: Layer
    settings: Mapping[str, Json]
    lock: LockEntry | None = None
    optional: bool = False
    trusted: bool = False
    file: Path | None = None
    line: int | None = None

    @classmethod
    def by_config(cls, extension: Extension, lock: LockEntry | None) -> Declared:
        """An extension that a config file declares."""
        return cls(
            extension.path,
            extension.layer,
            extension.settings,
            lock,
            extension.optional,
            False,
            extension.file,
            extension.line,
        )

    @classmethod
    def by_path(cls, folder: Path, settings: Mapping[str, Json] | None = None) -> Declared:
        """A folder that the caller named, closest of all."""
        return cls(folder, Layer.PROJECT, settings or {}, trusted=True)


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """An extension that is not in force, and why. `closed` are the scopes in which calls are denied for it."""

    name: str
    declared: Declared
    problems: tuple[Problem, ...]
    closed: tuple[Scope, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """What came of one declaration. `problems` name what of a loaded extension was not registered."""

    result: LoadedExtension | NotLoaded
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def load_extension(declared: Declared, config: Config, sandbox: Sandbox) -> LoadOutcome:
    """Load one extension. Never raises for what the extension is or does."""
    try:
        manifest = read_manifest(declared.folder)
        component = _component(manifest)
        digest = extension_digest(manifest.data, component)
        _check_agreement(declared, manifest, digest)
        settings, warnings = _settings(declared, manifest)
        bounds = effective(manifest, config.deadlines, config.limits)
        warnings += bounds.warnings
        if component is None:
            loaded, registration = None, manifest_rules(manifest)
        else:
            loaded = _load(manifest, component, bounds.limits, sandbox)
            warnings += [Problem(f"code cache: {text}", file=manifest.component) for text in loaded.warnings]
            registration = _register(manifest, loaded, dumps(settings).encode(), config.deadlines)
    except InputError as error:
        return LoadOutcome(not_loaded(declared, error.problems))
    extension = _extension(declared, manifest, digest, bounds, loaded, registration, settings)
    return LoadOutcome(extension, registration.problems, tuple(warnings))


def not_loaded(declared: Declared, problems: tuple[Problem, ...]) -> NotLoaded:
    """The outcome for an extension that cannot be in force. What was agreed to fails closed, unless it is optional."""
    name = declared.lock.name if declared.lock else clean(declared.folder.name)
    closed = declared.lock.intercept if declared.lock and not declared.optional else ()
    return NotLoaded(name, declared, problems, closed)


def _component(manifest: Manifest) -> bytes | None:
    path = manifest.component
    if path is None:
        return None
    try:
        return path.read_bytes()
    except FileNotFoundError:
        what, fix = f"there is no file {manifest.about.component}", "build the extension, or correct the name"
    except OSError as error:
        what, fix = f"{manifest.about.component} cannot be read: {error.strerror}", "make it readable"
    raise InputError(manifest.origin.problem(("extension", "component"), what, fix))


def _check_agreement(declared: Declared, manifest: Manifest, digest: str) -> None:
    if declared.trusted:
        return
    command = f"orrery ext install {declared.folder}"
    file = manifest.folder / FILE_NAME
    if declared.lock is None:
        what = f"extension {manifest.name} is declared in {declared.file}, and nobody agreed to it yet"
        raise InputError(Problem(what, file=file, fix=f"look at it and agree: {command}"))
    comparison = compare(declared.lock, digest, manifest.requires.intercept, manifest.requires.watch)
    if not comparison.agreed:
        what = f"extension {manifest.name}: {comparison}"
        raise InputError(Problem(what, file=file, fix=f"look at it and agree again: {command}"))


def _settings(declared: Declared, manifest: Manifest) -> tuple[dict[str, Json], list[Problem]]:
    """The manifest's settings, overridden key by key."""
    settings = {**manifest.settings, **declared.settings}
    warnings = []
    if unknown := [key for key in declared.settings if key not in manifest.settings]:
        known = ", ".join(manifest.settings) or "none"
        what = f"sets {', '.join(unknown)}, which extension {manifest.name} does not list (it lists {known})"
        warnings.append(Problem(what, file=declared.file, line=declared.line))
    try:
        dumps(settings)
    except JsonError as error:
        raise InputError(Problem(f"settings: {error}", file=declared.file or manifest.origin.file)) from None
    return settings, warnings


def _load(manifest: Manifest, component: bytes, limits: Limits, sandbox: Sandbox) -> Loaded:
    bounds = Bounds(
        fuel=limits.fuel,
        memory_mib=limits.memory_mib,
        output_kib=limits.output_kib,
        payload_kib=limits.payload_kib,
        in_flight=limits.in_flight,
        log_lines=limits.log_lines,
    )
    try:
        return sandbox.load(component, bounds)
    except ComponentError as error:
        raise InputError(Problem(str(error), file=manifest.component, fix=error.fix)) from None


def _register(manifest: Manifest, loaded: Loaded, settings: bytes, deadlines: Deadlines) -> Registration:
    reply = loaded.guest.register(settings, deadlines.register_ms)
    if isinstance(reply.outcome, Failure):
        what = f"register of extension {manifest.name}: {clean(reply.outcome.detail)}"
        raise InputError(Problem(what, file=manifest.component, fix="mend its settings, or the extension"))
    return read_registration(reply.outcome.text, manifest)


def _extension(
    declared: Declared,
    manifest: Manifest,
    digest: str,
    bounds: Effective,
    loaded: Loaded | None,
    registration: Registration,
    settings: dict[str, Json],
) -> LoadedExtension:
    text = dumps(settings).encode()
    name, deadlines = manifest.name, bounds.deadlines
    guest = loaded.guest if loaded else None
    return LoadedExtension(
        name=name,
        version=manifest.version,
        layer=declared.layer,
        folder=declared.folder,
        digest=digest,
        manifest=manifest,
        effective=bounds,
        guest=guest,
        interceptors=tuple(
            RegisteredInterceptor(
                name, one, guest, text, deadlines.gate_ms if one.mode is Mode.GATE else deadlines.rewrite_ms
            )
            for one in registration.interceptors
            if guest
        ),
        rules=registration.rules,
        watchers=tuple(
            RegisteredWatcher(name, one, guest, text, deadlines.rewrite_ms) for one in registration.watchers if guest
        ),
        component_digest=loaded.digest if loaded else None,
        cached=loaded.cached if loaded else False,
        settings=dict(settings),
    )
