"""Compiled code, kept between runs.

An entry is machine code that the host will run, so the folder must be one that only the user can write. It is named by
what it was made of and by its own digest: `<component>-<engine>-<SHA-256 of the entry>.cwasm`. A damaged entry does not
have its digest any more, and one of another wasmtime is another name.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

import platformdirs

_SUFFIX = ".cwasm"
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class CacheRefusedError(Exception):
    """The folder or an entry cannot be trusted or used. Says why and what to do."""


def default_folder() -> Path:
    """Where the code is kept for this user."""
    return platformdirs.user_cache_path("orrery") / "code"


class CodeCache:
    """A folder of compiled code. Makes the folder when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, component: str, engine: str) -> Path | None:
        """The entry for a component's digest and an engine's key, or None.

        A damaged entry is removed. Raises `CacheRefusedError` when the folder or the entry is not the user's alone.
        """
        prefix = _prefix(component, engine)
        if not self.folder.exists() and not self.folder.is_symlink():
            return None
        self._check(self.folder, folder=True)
        for path in sorted(self.folder.glob(f"{prefix}*{_SUFFIX}")):
            self._check(path, folder=False)
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise CacheRefusedError(f"{path}: cannot be read ({error.strerror})") from None
            if path.name == f"{prefix}{digest}{_SUFFIX}":
                return path
            with contextlib.suppress(OSError):
                path.unlink()
        return None

    def keep(self, component: str, engine: str, code: bytes) -> Path:
        """Keep an entry; it appears whole or not at all. Raises `CacheRefusedError` when it cannot be kept."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._check(self.folder, folder=True)
            target = self.folder / f"{_prefix(component, engine)}{hashlib.sha256(code).hexdigest()}{_SUFFIX}"
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".new-", delete=False) as file:
                try:
                    file.write(code)
                    file.flush()
                    os.fsync(file.fileno())
                    Path(file.name).replace(target)
                except BaseException:
                    Path(file.name).unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise CacheRefusedError(f"{self.folder}: cannot be written ({error.strerror})") from None
        return target

    def _check(self, path: Path, *, folder: bool) -> None:
        """Raise `CacheRefusedError` unless the path is the user's own and nobody else can write it."""
        try:
            status = path.lstat()
        except OSError as error:
            raise CacheRefusedError(f"{path}: cannot be looked at ({error.strerror})") from None
        if stat.S_ISLNK(status.st_mode):
            raise CacheRefusedError(f"{path}: is a link; remove it")
        if folder and not stat.S_ISDIR(status.st_mode):
            raise CacheRefusedError(f"{path}: is not a folder; remove it")
        if not folder and not stat.S_ISREG(status.st_mode):
            raise CacheRefusedError(f"{path}: is not a file; remove it")
        if status.st_uid != os.geteuid():
            raise CacheRefusedError(f"{path}: belongs to another user; remove it")
        if status.st_mode & _OTHERS_MAY_WRITE:
            raise CacheRefusedError(f"{path}: others may write it; run chmod go-w on it, or remove it")


def _prefix(component: str, engine: str) -> str:
    return f"{component.removeprefix('sha256:')}-{engine}-"
