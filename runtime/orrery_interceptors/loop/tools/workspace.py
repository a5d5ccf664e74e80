"""Files of one folder, and no way out of it.

Every path is walked from the folder's own file descriptor, one component at a time, with `O_NOFOLLOW` (openat,
POSIX.1-2008). Symbolic links are refused wherever they stand, those that stay inside too, so a link that is swapped in
between a check and a use cannot win: there is no check, only the open. What this cannot tell is a hard link to a file
outside, or another file system mounted inside.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

PROTECTED = ".orrery"
"""The folder with the project's config, lock and audit. Tools may read there and never write."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a fifo that was swapped in must not stop us.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1024 * 1024


class PathRefusedError(Exception):
    """A path that leads nowhere we go. The message is for the model."""


class Workspace:
    """A folder that tools are confined to. Its methods block: call them in a worker thread."""

    def __init__(self, root: Path) -> None:
        """Open the folder. Raises `OSError` where there is none. The root itself may be reached through links."""
        self.root = root.resolve(strict=True)
        self._given = Path(os.path.abspath(root))  # noqa: PTH100 - lexical on purpose, `resolve` follows links
        self._fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def close(self) -> None:
        """Let go of the folder."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def parts(self, path: str) -> tuple[str, ...]:
        """The path's components from the workspace's root; none for the root itself. Looks at no file.

        Raises `PathRefusedError` for a path that leads out.
        """
        if not path or "\0" in path:
            raise PathRefusedError("a path cannot be empty" if not path else "a path cannot hold a NUL")
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            raise PathRefusedError("a path cannot hold a lone surrogate") from None
        pure = PurePosixPath(path)
        if pure.is_absolute():
            pure = PurePosixPath(os.path.normpath(path))
            base = next((base for base in (self.root, self._given) if pure.is_relative_to(base)), None)
            if base is None:
                raise PathRefusedError(f"{path} lies outside the workspace")
            pure = pure.relative_to(base)
        parts: list[str] = []
        for part in pure.parts:
            if part != "..":
                parts.append(part)
            elif parts:
                parts.pop()
            else:
                raise PathRefusedError(f"{path} lies outside the workspace")
        return tuple(parts)

    @contextmanager
    def folder(self, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
        """A descriptor of a folder within, for as long as the block runs. Raises `PathRefusedError`."""
        fd = os.dup(self._fd)
        try:
            for index, part in enumerate(parts):
                with _told(parts[: index + 1]):
                    if create:
                        with suppress(FileExistsError):
                            os.mkdir(part, dir_fd=fd)
                    below = self._open_folder(part, fd, parts[: index + 1])
                os.close(fd)
                fd = below
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def file(self, path: str) -> Iterator[int]:
        """A descriptor of a regular file, to read. Raises `PathRefusedError`."""
        *above, name = self.parts(path) or ("",)
        if not name:
            raise PathRefusedError(f"{path} is a folder")
        with self.folder(tuple(above)) as folder, _told((path,)):
            fd = open_regular(name, folder, path)
            try:
                yield fd
            finally:
                os.close(fd)

    def write(self, path: str, data: bytes, *, instead_of: os.stat_result | None = None) -> bool:
        """Put a file in place whole, and whether it is new. Folders on the way are made.

        With `instead_of`, only where the file is still the one that was read. A file's permissions are kept; a reader
        sees the old file or the new one, also after a crash. Raises `PathRefusedError`.
        """
        *above, name = self.parts(path) or ("",)
        if not name:
            raise PathRefusedError(f"{path} is a folder")
        if PROTECTED in (part.lower() for part in (*above, name)):
            raise PathRefusedError(f"{path} belongs to {PROTECTED}, where tools do not write")
        with self.folder(tuple(above), create=True) as folder, _told((path,)):
            found = _stat(name, folder)
            if found is not None:
                _require_regular(found, path)
            return self._replace(name, folder, data, found, instead_of, path)

    def _replace(
        self,
        name: str,
        folder: int,
        data: bytes,
        found: os.stat_result | None,
        instead_of: os.stat_result | None,
        path: str,
    ) -> bool:
        temporary = f".orrery-{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(temporary, flags, 0o666, dir_fd=folder)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                if found is not None:
                    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
                        with suppress(PermissionError):
                            os.fchown(fd, found.st_uid, found.st_gid)
                    os.fchmod(fd, stat.S_IMODE(found.st_mode) & 0o777)
                os.fsync(fd)
            if instead_of is not None and not _same(instead_of, _stat(name, folder)):
                raise PathRefusedError(f"{path} changed while it was edited; read it again")
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        return found is None

    @staticmethod
    def _open_folder(name: str, fd: int, parts: tuple[str, ...]) -> int:
        try:
            return os.open(name, _FOLDER, dir_fd=fd)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                found = _stat(name, fd)
                if found is not None and stat.S_ISLNK(found.st_mode):
                    raise PathRefusedError(f"{'/'.join(parts)} is a symbolic link, which is not followed") from None
            raise


def open_regular(name: str, folder: int, path: str) -> int:
    """A descriptor of a regular file in an open folder, to read. Raises `PathRefusedError` and `OSError`."""
    found = _stat(name, folder)
    if found is not None:
        # Opening a device can already do something, so it is looked at first; what counts is the look after.
        _require_regular(found, path)
    fd = os.open(name, _FILE, dir_fd=folder)
    try:
        _require_regular(os.fstat(fd), path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def read_up_to(fd: int, limit: int) -> bytes:
    """At most `limit` bytes from the descriptor's place on."""
    data = bytearray()
    while len(data) < limit and (chunk := os.read(fd, min(_CHUNK, limit - len(data)))):
        data += chunk
    return bytes(data)


def walk_folder(fd: int) -> Iterator[tuple[str, bool]]:
    """Names in an open folder, sorted, and whether each is a folder. Links, special files and names that are not UTF-8
    are left out."""
    with os.scandir(fd) as entries:
        found = []
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if (is_folder or entry.is_file(follow_symlinks=False)) and _is_text(entry.name):
                found.append((entry.name, is_folder))
    yield from sorted(found)


def open_below(name: str, folder: int) -> int:
    """A descriptor of a folder in an open folder. Raises `OSError`; a link is one."""
    return os.open(name, _FOLDER, dir_fd=folder)


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _stat(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _same(one: os.stat_result, other: os.stat_result | None) -> bool:
    return other is not None and (one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns) == (
        other.st_dev,
        other.st_ino,
        other.st_size,
        other.st_mtime_ns,
    )


def _require_regular(found: os.stat_result, path: str) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    if stat.S_ISLNK(found.st_mode):
        raise PathRefusedError(f"{path} is a symbolic link, which is not followed")
    if stat.S_ISDIR(found.st_mode):
        raise PathRefusedError(f"{path} is a folder")
    raise PathRefusedError(f"{path} is a special file (a pipe, a socket or a device)")


@contextmanager
def _told(parts: tuple[str, ...]) -> Iterator[None]:
    """Turn an `OSError` into words about the path."""
    try:
        yield
    except OSError as error:
        raise PathRefusedError(f"{'/'.join(parts)}: {(error.strerror or str(error)).lower()}") from None
