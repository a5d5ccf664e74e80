"""Where the config files are: at most one for each layer."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from ..errors import ConfigError, InputError, Problem
from ..tomlfile import TomlFile, read_toml
from .model import Layer

FOLDER = ".orrery"
"""The folder of a project that holds its config, its lock, and by default its audit and its memory."""

_NAME = "config.toml"


def _user_file() -> Path:
    return Path(platformdirs.user_config_dir("orrery")) / _NAME


def _org_file() -> Path:
    return Path(platformdirs.site_config_dir("orrery")) / _NAME


@dataclass(frozen=True, slots=True)
class Places:
    """The files that do not depend on the project. The managed one is where no environment variable leads elsewhere."""

    user: Path = field(default_factory=_user_file)
    org: Path = field(default_factory=_org_file)
    managed: Path = Path("/etc/orrery/config.toml")


@dataclass(frozen=True, slots=True)
class LayerFile:
    """A layer's file as it was found and read. Paths in it are relative to `base`."""

    layer: Layer
    path: Path
    base: Path
    toml: TomlFile


def find_project(start: Path | None = None) -> Path:
    """The nearest folder, from `start` (default: the current one) upwards, that has an `.orrery`; else `start`.

    Raises `ConfigError` where `start` cannot be found, and where the `.orrery` above it is another user's.
    """
    try:
        start = (start or Path.cwd()).resolve()
    except (OSError, RuntimeError) as error:
        raise ConfigError(Problem(f"the project folder cannot be found: {error}", file=start)) from None
    for folder in (start, *start.parents):
        if (owner := _folder_owner(folder / FOLDER)) is None:
            continue
        if folder != start and not _is_trusted(owner, start):
            what = f"this project belongs to another user ({owner})"
            raise ConfigError(Problem(what, file=folder / FOLDER, fix="make it yours, or name the project's folder"))
        return folder
    return start


def read_layers(project: Path, places: Places) -> list[LayerFile]:
    """Find and read the config files of a project, an absolute path. Closest first; who has no file is left out.

    Raises `ConfigError` with the problems of every file that is there and cannot be read.
    """
    results = (
        _read(Layer.PROJECT, project / FOLDER / _NAME, project),
        _workspace(project),
        _read(Layer.USER, places.user, places.user.parent),
        _read(Layer.ORG, places.org, places.org.parent),
        _read(Layer.MANAGED, places.managed, places.managed.parent),
    )
    if problems := [problem for result in results if isinstance(result, InputError) for problem in result.problems]:
        raise ConfigError(problems)
    return [result for result in results if isinstance(result, LayerFile)]


def _read(layer: Layer, path: Path, base: Path) -> LayerFile | InputError | None:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        # There is something, or may be: reading says why it cannot be had.
        pass
    try:
        return LayerFile(layer, path, base.absolute(), read_toml(path))
    except InputError as error:
        return error


def _workspace(project: Path) -> LayerFile | InputError | None:
    """The nearest parent's file that is marked as a workspace. One that cannot be read may be it, and counts."""
    for folder in project.parents:
        found = _read(Layer.WORKSPACE, folder / FOLDER / _NAME, folder)
        if isinstance(found, InputError):
            return found
        marked = found.toml.values.get("workspace", False) if found else False
        if found and not isinstance(marked, bool):
            return InputError(found.toml.origin.problem(("workspace",), "must be true or false"))
        if found and marked:
            owner = found.toml.owner
            if owner is not None and _is_trusted(owner, project):
                return found
            what = f"this workspace belongs to another user ({owner})"
            fix = "make its config file yours, or move the project out of the folder"
            return InputError(found.toml.origin.problem(("workspace",), what, fix))
    return None


def _is_trusted(owner: int, folder: Path) -> bool:
    """Whether what lies above a folder is the user's, root's, or of whoever owns the folder.

    A folder above may be anyone's: in a shared one, such as that for temporary files, another user could otherwise
    configure what guards this one.
    """
    try:
        own = folder.stat().st_uid
    except OSError:
        own = os.geteuid()
    return owner in (os.geteuid(), 0, own)


def _folder_owner(path: Path) -> int | None:
    """The user id that owns a folder; None where there is no folder."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_uid if stat.S_ISDIR(status.st_mode) else None
