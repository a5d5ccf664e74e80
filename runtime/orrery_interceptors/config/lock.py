"""The lock: per extension, what the user agreed to. Kept as `lock.toml` beside the file that declares the extension.

The file may be read and committed like any other. It is read strictly, so what a hand edit got wrong is an error and
never an entry less; writing it again keeps every entry but no comment.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from ..errors import ConfigError, InputError, Problem
from ..fields import Name, PathText, Scopes, Version
from ..patterns import Scope, is_covered
from ..tomlfile import MAX_BYTES, read_toml
from ..validation import FieldError, Origin, Strict, validate

VERSION = 1
"""The version of the file's format."""

_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_HEADER = "# What was agreed to, for each extension. Written by `orrery ext install`.\n"


def _check_digest(text: str) -> str:
    if not _DIGEST.fullmatch(text):
        raise FieldError('must be "sha256:" and 64 hexadecimal digits in lower case')
    return text


def _check_version(number: int) -> int:
    if number != VERSION:
        raise FieldError(f"version {number} is not understood; this host understands {VERSION}")
    return number


class LockEntry(Strict):
    """What was agreed to for one extension. `path` is as the config file beside the lock declares it."""

    name: Name
    path: PathText
    version: Version
    digest: Annotated[str, AfterValidator(_check_digest)]
    intercept: Scopes = ()
    watch: Scopes = ()


class _File(Strict):
    version: Annotated[int, AfterValidator(_check_version)] = Field(examples=[str(VERSION)])
    extensions: Annotated[tuple[LockEntry, ...], Field(strict=False)] = ()


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock as it was read. One that is not there is empty."""

    path: Path
    entries: tuple[LockEntry, ...] = ()

    def find(self, declared: str) -> LockEntry | None:
        """The entry of the extension that the config file declares with this path."""
        return next((entry for entry in self.entries if Path(entry.path) == Path(declared)), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is there now, against what was agreed to. The scopes are those that the agreement does not cover."""

    digest_changed: bool
    new_intercept: tuple[Scope, ...]
    new_watch: tuple[Scope, ...]

    @property
    def agreed(self) -> bool:
        """Whether the agreement still holds."""
        return not (self.digest_changed or self.new_intercept or self.new_watch)

    def __str__(self) -> str:
        parts = ["its files changed since it was agreed to"] if self.digest_changed else []
        for verb, scopes in (("intercept", self.new_intercept), ("watch", self.new_watch)):
            if scopes:
                parts.append(f"it asks to {verb} {', '.join(map(str, scopes))}, which was not agreed to")
        return "; ".join(parts) or "as agreed"


def compare(entry: LockEntry, digest: str, intercept: tuple[Scope, ...], watch: tuple[Scope, ...]) -> Comparison:
    """Hold an extension against its entry: its digest (`digests.extension_digest`) and the scopes that it requires."""
    return Comparison(entry.digest != digest, _beyond(entry.intercept, intercept), _beyond(entry.watch, watch))


def _beyond(agreed: tuple[Scope, ...], asked: tuple[Scope, ...]) -> tuple[Scope, ...]:
    return tuple(scope for scope in asked if not is_covered(agreed, scope.point, scope.tools))


def read_lock(path: Path) -> Lock:
    """Read a lock; a file that is not there gives an empty one. Raises `ConfigError` with every problem otherwise."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return Lock(path)
    except OSError:
        pass  # reading says why
    try:
        toml = read_toml(path)
        file = validate(_File, toml.values, toml.origin)
    except InputError as error:
        raise ConfigError(error.problems) from None
    if problems := list(_repeated(file.extensions, toml.origin)):
        raise ConfigError(problems)
    return Lock(path, file.extensions)


def _repeated(entries: tuple[LockEntry, ...], origin: Origin) -> Iterator[Problem]:
    for key, values in (
        ("name", [entry.name for entry in entries]),
        ("path", [str(Path(entry.path)) for entry in entries]),
    ):
        for index, value in enumerate(values):
            if value in values[:index]:
                what = f"the {key} of an entry before this one too"
                yield origin.problem(("extensions", index, key), what, "keep one of the two")


def put_entry(path: Path, entry: LockEntry) -> None:
    """Write an entry to the lock, in place of those with its name or its path.

    The file is replaced as a whole or not at all, and other writers wait. Raises `ConfigError` when the file there
    cannot be read, which leaves it as it is, or cannot be written.
    """

    def put(entries: tuple[LockEntry, ...]) -> tuple[LockEntry, ...]:
        kept = [one for one in entries if one.name != entry.name and Path(one.path) != Path(entry.path)]
        return (*kept, entry)

    _update(path, put)


def drop_entry(path: Path, name: str) -> None:
    """Take an extension's entry out of the lock, if it is there. As safe as `put_entry`; raises as it does."""
    _update(path, lambda entries: tuple(entry for entry in entries if entry.name != name))


def _update(path: Path, change: Callable[[tuple[LockEntry, ...]], tuple[LockEntry, ...]]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _exclusive(path.parent):
            entries = read_lock(path).entries
            if (changed := change(entries)) != entries:
                _replace(path, _rendered(changed))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(Problem(f"cannot be written: {reason[:1].lower()}{reason[1:]}", file=path)) from None


@contextlib.contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """Keep other writers out. The folder is locked: the file itself is replaced, and its lock would go with it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(path: Path, text: str) -> None:
    data = text.encode("utf-8")
    if len(data) > MAX_BYTES:
        raise ConfigError(Problem(f"would be larger than {MAX_BYTES // 1024} KiB, the most that is read", file=path))
    mode = stat.S_IMODE(path.stat().st_mode) if path.is_file() else 0o644
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _rendered(entries: tuple[LockEntry, ...]) -> str:
    lines = [f"{_HEADER}version = {VERSION}\n"]
    for entry in entries:
        lines.append("\n[[extensions]]\n")
        lines += [f"{key} = {_toml(getattr(entry, key))}\n" for key in ("name", "path", "version", "digest")]
        for key in ("intercept", "watch"):
            lines.append(f"{key} = [{', '.join(_toml(str(scope)) for scope in getattr(entry, key))}]\n")
    return "".join(lines)


def _toml(text: str) -> str:
    """A basic string of TOML. JSON's escapes are TOML's, except that TOML escapes DEL too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
