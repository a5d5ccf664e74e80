"""TOML files, read whole or not at all, with the line of every value.

Manifests come from strangers, so nothing about a file is taken for granted: not that it is a file, not its size, not
that it nests sensibly. Values that JSON does not know, dates and NaN, are found when a file is validated.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from .errors import InputError, Problem
from .jsontext import MAX_DEPTH, Json, JsonError, check_depth
from .tomllines import longest_key
from .validation import Origin

MAX_BYTES = 1024 * 1024
"""The largest TOML file that is read."""


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A file that was read: its bytes, its values, where they stand, and the user id that owns the file."""

    data: bytes
    values: dict[str, Json]
    origin: Origin
    owner: int | None = None


def read_toml(path: Path) -> TomlFile:
    """Read a TOML file.

    Raises `InputError` for a file that is missing, not a regular file, not readable, larger than `MAX_BYTES`, not
    UTF-8, not TOML, or nested too deeply.
    """
    data, owner = _read(path)
    return replace(parse_toml(data, path), owner=owner)


def parse_toml(data: bytes, file: str | Path) -> TomlFile:
    """Read the bytes of a TOML file. `file` names it in problems. Raises `InputError` as `read_toml` does."""
    text = _decoded(data, file)
    if (parts := longest_key(text)) > MAX_DEPTH:
        # tomllib takes quadratic time for such a key.
        raise InputError(Problem(f"a key of {parts} parts; at most {MAX_DEPTH} are read", file=file))
    try:
        values = tomllib.loads(text)
        check_depth(values)
    except tomllib.TOMLDecodeError as error:
        raise InputError(_malformed(text, str(error), file)) from None
    except ValueError as error:
        what = error.what if isinstance(error, JsonError) else "a number with too many digits to be read"
        raise InputError(Problem(what, file=file)) from None
    except RecursionError:
        raise InputError(Problem(f"nested deeper than the depth limit of {MAX_DEPTH}", file=file)) from None
    return TomlFile(data, values, Origin(file, text, "a table"))


def _read(path: Path) -> tuple[bytes, int]:
    try:
        # A named pipe must not make the reader wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise InputError(Problem("there is no such file", file=path)) from None
    except (OSError, ValueError) as error:
        raise InputError(Problem(_unreadable(error), file=path)) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise InputError(Problem(f"is {kind}", file=path, fix="a TOML file belongs there"))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(Problem(_unreadable(error), file=path)) from None
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        raise InputError(Problem(f"is larger than {MAX_BYTES // 1024} KiB, the most that is read", file=path))
    return data, status.st_uid


def _unreadable(error: OSError | ValueError) -> str:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return f"cannot be read: {reason[:1].lower()}{reason[1:]}"


def _decoded(data: bytes, file: str | Path) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(Problem("is not UTF-8", file=file, line=line, fix="save it as UTF-8")) from None
    if text.startswith("\ufeff"):
        raise InputError(Problem("starts with a byte order mark", file=file, line=1, fix="save it without one"))
    # As tomllib does, so that lines and positions agree.
    return text.replace("\r\n", "\n")


_TWICE = re.compile("overwrite a value|Cannot declare|Cannot mutate|Cannot redefine|Duplicate inline table key")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _malformed(text: str, message: str, file: str | Path) -> Problem:
    place = _PLACE.search(message)
    what = message[: place.start()] if place else message
    if place and place[1]:
        line, column = int(place[1]), f" at column {place[2]}"
    else:
        line, column = text.count("\n") + 1, " at the end"
    if _TWICE.search(what):
        return Problem(
            "a key or table that was given before is given again", file=file, line=line, fix="keep one of the two"
        )
    return Problem(f"not TOML{column}: {what[:1].lower()}{what[1:]}", file=file, line=line)
