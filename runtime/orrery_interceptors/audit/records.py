"""The audit's format: JSON Lines, one record a line, each chained to the one before it.

A record is a JSON object with `v` (1), `n` (its number, from 1), `at` (UTC, RFC 3339), `type`, what the type says,
`prev` (the `hash` of the record before it, 64 zeros for the first) and, last, `hash`: SHA-256, in hexadecimal, over the
line's bytes up to `,"hash":`. Types are `decision`, and `recovered`, which follows a line that a crash left unfinished
and tells its length as `torn`.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from ..decisions import Decision
from ..digests import payload_digest
from ..jsontext import RECORD_DEPTH, Json, JsonError, dumps, loads
from ..points import Site

VERSION = 1
START = "0" * 64
"""What stands in `prev` of the first record."""

_HASH = ',"hash":"'
_TAIL = len(_HASH) + 64 + len('"}')


def decision_record(decision: Decision, asked: dict[str, Json], site: Site, at: float) -> dict[str, Json]:
    """The record of a decision: what was asked as a digest, what was decided in full, changes as patches.

    `at` is seconds since 1970. The payload itself is not kept: it may hold what must not be written down.
    """
    point, outcome, changed, _, reason, by, trail = decision
    return {
        "type": "decision",
        "at": _timestamp(at),
        "point": point,
        "site": site.to_json(),
        "tool": asked.get("tool"),
        "payload": _digest(asked),
        "decision": outcome,
        "changed": changed,
        "reason": reason,
        "by": None if by is None else by.to_json(),
        "trail": [entry.to_json() for entry in trail],
    }


def _digest(asked: dict[str, Json]) -> str | None:
    """The payload's digest; None where it is no JSON value."""
    try:
        return payload_digest(asked)
    except JsonError:
        return None


def recovered_record(torn: int, at: float) -> dict[str, Json]:
    """The record that says that the line before it was left unfinished, with so many bytes."""
    return {"type": "recovered", "at": _timestamp(at), "torn": torn}


def _timestamp(at: float) -> str:
    seconds, fraction = divmod(int(at * 1_000_000), 1_000_000)
    return f"{_second(seconds)}.{fraction:06}Z"


@lru_cache(4)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def line_of(record: dict[str, Json], number: int, previous: str) -> tuple[bytes, str]:
    """The record's line, its end included, and its hash."""
    head = {"v": VERSION, "n": number, **record, "prev": previous}
    try:
        text = dumps(head, RECORD_DEPTH)
    except JsonError:
        # What a payload held shows in a patch and has no text. The record says so; it is never lost.
        text = dumps(
            {**head, "trail": _printable(head.get("trail")), "tool": _printable(head.get("tool"))}, RECORD_DEPTH
        )
    data = text[:-1].encode()
    digest = hashlib.sha256(data).hexdigest()
    return data + f'{_HASH}{digest}"}}\n'.encode(), digest


def _printable(value: Any) -> Json:
    try:
        dumps(value, RECORD_DEPTH)
    except JsonError as error:
        return f"not written: {error}"
    return value


def read_line(line: bytes) -> tuple[dict[str, Json], str]:
    """The record of a line without its end, and its hash. Raises `ValueError` with what is wrong with it."""
    try:
        record = loads(line, RECORD_DEPTH)
    except JsonError as error:
        raise ValueError(f"is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise ValueError("is not an object")
    if record.get("v") != VERSION:
        raise ValueError(f"is of version {record.get('v')!r}; this host reads {VERSION}")
    digest = record.get("hash")
    if not isinstance(digest, str) or not line.endswith(f'{_HASH}{digest}"}}'.encode()) or len(digest) != 64:
        raise ValueError("has no hash at its end")
    if hashlib.sha256(line[:-_TAIL]).hexdigest() != digest:
        raise ValueError("was changed: its hash does not fit")
    return record, digest
