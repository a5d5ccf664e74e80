"""All layers in one config, and where each value came from.

A key in a closer file wins, except that the managed file may lock keys. Lists and tables of free shape are one value:
a closer file replaces them whole. Extensions are kept from all layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigError, InputError, Problem
from ..fields import absolute
from ..jsontext import Json
from ..tomllines import Loc
from ..validation import in_order, keys_of, validate
from .files import LayerFile, Places, read_layers
from .model import EXTENSIONS, KEYS, Config, ConfigFile, Extension, Layer, Tables


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value came from: a file and a line of it, or the default where there is none.

    `locked_by` is the managed file, where it locks the key.
    """

    layer: Layer | None = None
    file: Path | None = None
    line: int | None = None
    locked_by: Path | None = None

    def __str__(self) -> str:
        place = "default" if self.file is None else str(self.file) + (f":{self.line}" if self.line else "")
        return f"{place} (locked by {self.locked_by})" if self.locked_by else place


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A project's config, and how it came to be.

    `files` are those that were read, closest first; `sources` has an entry for every key of `KEYS`; `warnings` name
    what was set and does not count.
    """

    config: Config
    project: Path
    files: tuple[LayerFile, ...]
    sources: Mapping[str, Source]
    warnings: tuple[Problem, ...]

    @property
    def audit_path(self) -> Path:
        """Where the audit is kept."""
        return absolute(self.config.audit.path, self.project)

    @property
    def memory_path(self) -> Path:
        """Where memory is kept."""
        return absolute(self.config.memory.path, self.project)


def load_config(project: Path, places: Places | None = None) -> LoadedConfig:
    """Read and merge the config of the project in this folder.

    Missing files are fine. Raises `ConfigError` with every problem of every file otherwise.
    """
    try:
        project = project.resolve()
    except (OSError, RuntimeError) as error:
        raise ConfigError(Problem(f"the project folder cannot be found: {error}", file=project)) from None
    layers = read_layers(project, places or Places())
    parsed: list[tuple[LayerFile, ConfigFile]] = []
    problems: list[Problem] = []
    for layer in layers:
        try:
            parsed.append((layer, _parse(layer)))
        except InputError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return _merge(project, parsed)


def _parse(layer: LayerFile) -> ConfigFile:
    """One file, checked as far as it can be alone. Raises `InputError`."""
    origin, values = layer.toml.origin, layer.toml.values
    problems: list[Problem] = []
    if "workspace" in values and layer.layer not in (Layer.PROJECT, Layer.WORKSPACE):
        what = f"has no meaning in the {layer.layer} file"
        problems.append(origin.problem(("workspace",), what, "remove it; a folder's .orrery/config.toml may have it"))
    if "locked" in values and layer.layer is not Layer.MANAGED:
        what = f"has no meaning in the {layer.layer} file"
        problems.append(origin.problem(("locked",), what, "remove it; only the managed file locks keys"))
    try:
        file = validate(ConfigFile, values, origin)
    except InputError as error:
        problems += error.problems
    else:
        if not problems:
            return file
    raise InputError(in_order(problems))


def _merge(project: Path, parsed: list[tuple[LayerFile, ConfigFile]]) -> LoadedConfig:
    locks = _locks(parsed)
    values: dict[str, dict[str, Json]] = {table: {} for table in keys_of(Tables)}
    sources = {key: Source(locked_by=locks.get(key)) for key in KEYS}
    extensions: list[Extension] = []
    warnings: list[Problem] = []
    for layer, file in parsed:
        ignored = locks if layer.layer is not Layer.MANAGED else {}
        for key in KEYS:
            table, name = key.split(".")
            if name not in layer.toml.values.get(table, {}):
                continue
            if key in ignored:
                warnings.append(_ignored(layer, (table, name), ignored[key]))
            elif sources[key].file is None:
                values[table][name] = layer.toml.values[table][name]
                line = layer.toml.origin.line((table, name))
                sources[key] = Source(layer.layer, layer.path, line, locks.get(key))
        if file.extensions and EXTENSIONS in ignored:
            warnings.append(_ignored(layer, (EXTENSIONS,), ignored[EXTENSIONS]))
        else:
            extensions += _extensions(layer, file)
    config = Config.model_validate(values).model_copy(update={"extensions": tuple(extensions)})
    return LoadedConfig(config, project, tuple(layer for layer, _ in parsed), sources, tuple(warnings))


def _locks(parsed: list[tuple[LayerFile, ConfigFile]]) -> dict[str, Path]:
    """The locked keys, and the file that locks them."""
    return {
        key: layer.path
        for layer, file in parsed
        for lock in file.locked
        for key in (*KEYS, EXTENSIONS)
        if key == lock or key.startswith(f"{lock}.")
    }


def _ignored(layer: LayerFile, loc: Loc, lock: Path) -> Problem:
    return layer.toml.origin.problem(loc, f"is locked by {lock}; what this file says does not count", "remove it here")


def _extensions(layer: LayerFile, file: ConfigFile) -> list[Extension]:
    return [
        Extension(
            path=absolute(entry.path, layer.base),
            declared=entry.path,
            optional=entry.optional,
            enabled=entry.enabled,
            settings=entry.settings,
            layer=layer.layer,
            file=layer.path,
            line=layer.toml.origin.line((EXTENSIONS, index)),
        )
        for index, entry in enumerate(file.extensions)
    ]
