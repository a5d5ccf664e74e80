"""Reading an audit, and checking its chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import AuditError
from ..jsontext import Json
from .records import START, read_line


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check of the chain found. `torn` is the length of an unfinished last line, 0 where there is none.

    `problems` are (line, what is wrong), lines counted from 1; without any the chain holds from the first record to the
    last. `last` is the last record's hash: kept elsewhere, it shows later whether records were cut off the end.
    """

    records: int
    torn: int
    recovered: int
    last: str
    problems: tuple[tuple[int, str], ...]

    @property
    def intact(self) -> bool:
        """Whether the chain holds."""
        return not self.problems


def read_records(path: Path) -> Iterator[dict[str, Json]]:
    """The records in order; lines that a crash left unfinished are passed over.

    Raises `AuditError` where the file cannot be read, and at the first line that is no record.
    """
    lines = _lines(path)
    for number, (line, whole) in enumerate(lines, 1):
        try:
            yield read_line(line)[0]
        except ValueError as error:
            if not whole:
                return
            following = next(lines, None)
            if following is None or not _recovers(following[0], len(line)):
                raise AuditError(f"{path}:{number}: {error}; run orrery audit verify", number) from None
            yield read_line(following[0])[0]


def verify(path: Path) -> Verification:
    """Check every line and the chain between them. Raises `AuditError` where the file cannot be read."""
    problems: list[tuple[int, str]] = []
    previous, expected = START, 1
    records = torn = recovered = 0
    unread: tuple[int, str, int] | None = None
    for number, (line, whole) in enumerate(_lines(path), 1):
        try:
            record, digest = read_line(line)
        except ValueError as error:
            if unread is not None:
                problems.append(unread[:2])
            unread = (number, str(error), len(line))
            torn = 0 if whole else len(line)
            continue
        if unread is not None:
            if record.get("type") == "recovered" and record.get("torn") == unread[2]:
                recovered += 1
            else:
                problems.append(unread[:2])
            unread = None
        elif record.get("type") == "recovered":
            problems.append((number, "says that the line before it is unfinished, which it is not"))
        records += 1
        if record.get("prev") != previous:
            problems.append((number, "does not follow the record before it: records were changed, removed or added"))
        elif record.get("n") != expected:
            problems.append((number, f"is numbered {record.get('n')}, not {expected}"))
        number_here = record.get("n")
        expected = (number_here if isinstance(number_here, int) else expected) + 1
        previous = digest
    if unread is not None and not torn:
        problems.append(unread[:2])
    return Verification(records, torn, recovered, previous, tuple(problems))


def _recovers(line: bytes, torn: int) -> bool:
    try:
        record, _ = read_line(line)
    except ValueError:
        return False
    return record.get("type") == "recovered" and record.get("torn") == torn


def _lines(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Each line without its end, and whether it had one."""
    try:
        with path.open("rb") as file:
            for line in file:
                yield line.removesuffix(b"\n"), line.endswith(b"\n")
    except FileNotFoundError:
        raise AuditError(f"{path}: there is no audit here yet") from None
    except OSError as error:
        raise AuditError(f"{path}: cannot be read: {error.strerror}") from None
