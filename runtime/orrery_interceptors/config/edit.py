"""Changing which extensions a project's config file declares, and nothing else of it.

The file is people's own: what is added goes to its end, and what is removed is the lines of that table alone.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from ..errors import ConfigError, Problem
from ..tomlfile import read_toml


def declare(path: Path, folder: str) -> bool:
    """Declare an extension's folder in a config file, which is made where there is none. Whether it was not there yet.

    Raises `ConfigError` when the file cannot be read or written.
    """
    if any(Path(entry) == Path(folder) for entry in _declared(path)):
        return False
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    gap = "" if not before or before.endswith("\n\n") else "\n" if before.endswith("\n") else "\n\n"
    _write(path, f"{before}{gap}[[extensions]]\npath = {json.dumps(folder, ensure_ascii=False)}\n")
    return True


def undeclare(path: Path, folder: str) -> bool:
    """Take an extension's declaration out of a config file. Whether there was one.

    Raises `ConfigError` when the file cannot be read or written, or does not declare it as a table of its own.
    """
    declared = _declared(path)
    index = next((index for index, entry in enumerate(declared) if Path(entry) == Path(folder)), None)
    if index is None:
        return False
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if line.strip().replace(" ", "") == "[[extensions]]"]
    if len(starts) != len(declared):
        what = "declares its extensions in a form that this command does not change"
        raise ConfigError(Problem(what, file=path, fix="remove the extension by hand"))
    start = starts[index]
    end = next(
        (
            number
            for number in range(start + 1, len(lines))
            if lines[number].lstrip().startswith("[") and not lines[number].lstrip().startswith("[extensions.")
        ),
        len(lines),
    )
    _write(path, "".join(lines[:start] + lines[end:]))
    return True


def _declared(path: Path) -> list[str]:
    if not path.exists():
        return []
    entries = read_toml(path).values.get("extensions", [])
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("path"), str) for entry in entries
    ):
        raise ConfigError(Problem("extensions must be tables with a path", file=path, key="extensions"))
    return [entry["path"] for entry in entries]


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigError(Problem(f"cannot be written: {error.strerror}", file=path)) from None
