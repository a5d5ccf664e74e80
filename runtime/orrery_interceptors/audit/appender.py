"""Appending to an audit: whole lines, one writer at a time, whoever else writes it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import AuditError
from ..jsontext import Json
from .records import START, line_of, read_line, recovered_record

_CHUNK = 65536


class Appender:
    """Appends records to one file. Not for several threads at once; several processes are fine.

    The file is locked while records are appended, and its end is read again when another process wrote to it, so that
    there is one chain. Raises `AuditError` where that cannot be done, and then nothing of the batch is kept.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = -1
        self._end = -1
        self._number = 0
        self._previous = START

    def append(self, records: Sequence[Callable[[], dict[str, Json]]], *, durable: bool) -> None:
        """Append records; with `durable` they are on the disk when this returns."""
        try:
            if self._file < 0 or self._replaced():
                self._open()
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                self._write(records, durable)
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)
        except OSError as error:
            raise AuditError(
                f"{self.path}: the audit cannot be written: {error.strerror}; nothing is decided without it"
            ) from None

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        self.close()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            self.close()
            raise AuditError(f"{self.path}: is not a file; give audit.path the name of one")
        self._end = -1

    def _replaced(self) -> bool:
        """Whether the file was moved away or removed, as those do that rotate logs."""
        with contextlib.suppress(OSError):
            there, ours = self.path.stat(), os.fstat(self._file)
            return (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino)
        return True

    def _write(self, records: Sequence[Callable[[], dict[str, Json]]], durable: bool) -> None:
        size = os.fstat(self._file).st_size
        lines: list[bytes] = []
        number, previous = self._number, self._previous
        if size != self._end:
            number, previous, rest = self._read_end(size)
            whole = _whole(rest)
            if whole is not None:
                # Only the line's end is missing.
                number, previous = whole
                lines.append(b"\n")
            elif rest:
                line, previous = line_of(recovered_record(len(rest), time.time()), number := number + 1, previous)
                lines += [b"\n", line]
        for record in records:
            line, previous = line_of(record(), number := number + 1, previous)
            lines.append(line)
        data = memoryview(b"".join(lines))
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
            if durable:
                os.fsync(self._file)
        except OSError:
            # Half a batch would be a torn line in the middle of the next one's.
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, size)
            self._end = -1
            raise
        self._number, self._previous, self._end = number, previous, size + len(data)

    def _read_end(self, size: int) -> tuple[int, str, bytes]:
        """The number and the hash of the last whole line's record, and what stands after it."""
        tail, start = b"", size
        while start > 0:
            step = min(_CHUNK, start)
            start -= step
            tail = os.pread(self._file, step, start) + tail
            *whole, rest = tail.split(b"\n")
            # The first piece may be the end of a longer line, unless the file begins there.
            for line in reversed(whole if start == 0 else whole[1:]):
                with contextlib.suppress(ValueError):
                    record, digest = read_line(line)
                    return int(record["n"]), digest, rest
        rest = tail.rsplit(b"\n", 1)[-1]
        if b"\n" in tail:
            raise AuditError(f"{self.path}: holds no record of an audit; move it away, or give audit.path another name")
        return 0, START, rest


def _whole(rest: bytes) -> tuple[int, str] | None:
    """The number and the hash of a record without the end of its line, or None where it is not whole."""
    try:
        record, digest = read_line(rest)
        return int(record["n"]), digest
    except (ValueError, KeyError, TypeError):
        return None
