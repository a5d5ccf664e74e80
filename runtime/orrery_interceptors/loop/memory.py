"""What is remembered between turns and sessions: texts in an SQLite file, found by their words.

Ranked by BM25 where SQLite has FTS5, else by how many of the query's words an entry holds.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from anyio import to_thread

from ..errors import OrreryError
from ..jsontext import Json, JsonError, dumps, loads

SCHEMA_VERSION = 1
MAX_TEXT_BYTES = 64 * 1024
"""The longest text of one entry, in UTF-8."""
MAX_RECALLED_BYTES = 128 * 1024
"""The most text that one recall returns; an entry that would pass it is left out whole."""
MAX_LIMIT = 1000

_APPLICATION_ID = 0x4F52524D  # "ORRM"
_MAX_TERMS = 64
_BUSY_MS = 5000
_WORD = re.compile(r"\w+")
_T = TypeVar("_T")

Entry = dict[str, Json]


class MemoryStoreError(OrreryError):
    """Memory cannot be opened, read or written."""


class Memory(Protocol):
    """What the loop asks for what is remembered."""

    async def recall(self, query: str) -> list[Entry]:
        """Entries that have to do with the query, best first: `{"id", "text", "score"?, "meta"?}`.

        Raises `MemoryStoreError`.
        """
        ...


class SqliteMemory:
    """Memory in one file, readable by its owner alone.

    Every method may be called from any task; the work is done in a worker thread, one at a time. Other processes may
    use the same file.
    """

    def __init__(self, path: Path | None, *, limit: int = 8, full_text: bool | None = None) -> None:
        """Open the file or make it; None keeps everything in this process's memory.

        `limit` is how many entries a recall returns unless it says otherwise. `full_text` forces or forbids FTS5 in a
        new file. Raises `MemoryStoreError`.
        """
        self._name = "memory" if path is None else str(path)
        self._limit = limit
        self._lock = threading.Lock()
        with self._told():
            if path is not None:
                _make_private(path)
            self._db = sqlite3.connect(
                ":memory:" if path is None else path, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(full_text)
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    async def add(
        self, text: str, *, id: str | None = None, meta: Mapping[str, Json] | None = None, at: datetime | None = None
    ) -> str:
        """Remember a text, in place of what had the same id, and return the id.

        Without an id, one is made of the text: what is added twice is remembered once. `meta` is any JSON object; its
        `tags`, a list of texts, can be asked for. `at` is when it came up, now if not given. Raises `MemoryStoreError`.
        """
        size = len(text.encode("utf-8", "replace"))
        if not text.strip() or size > MAX_TEXT_BYTES:
            raise MemoryStoreError(f"a text to remember has 1 to {MAX_TEXT_BYTES} bytes, this one {size}")
        name = id or f"m-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"
        try:
            dumps(text)
            about = dumps(dict(meta or {}))
        except JsonError as error:
            raise MemoryStoreError(f"cannot be remembered: {error}") from None
        return await self._do(partial(self._add, name, text, about, _milliseconds(at)))

    async def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Entry]:
        """Entries that hold words of the query, best first, the newer first where two are as good.

        Nothing in a query has a special meaning. `tag` asks for entries whose `meta.tags` hold it, `since` and `until`
        for those that came up then, both included. Raises `MemoryStoreError`.
        """
        terms = _words(query)[:_MAX_TERMS]
        most = min(self._limit if limit is None else limit, MAX_LIMIT)
        if not terms or most <= 0:
            return []
        bounds = (tag, None if since is None else _milliseconds(since), None if until is None else _milliseconds(until))
        return await self._do(partial(self._recall, terms, most, bounds))

    async def forget(self, id: str) -> bool:
        """Forget an entry. Whether there was one. Raises `MemoryStoreError`."""
        return await self._do(partial(self._forget, id))

    async def _do(self, work: Callable[[], _T]) -> _T:
        def locked() -> _T:
            with self._lock, self._told():
                return work()

        return await to_thread.run_sync(locked)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise MemoryStoreError(f"{self._name}: {error}") from None

    def _prepare(self, full_text: bool | None) -> None:
        self._db.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        # The file may have come with a stranger's project.
        self._db.execute("PRAGMA trusted_schema = OFF")
        self._db.create_function("words_held", 2, _words_held, deterministic=True)
        version = self._pragma("user_version")
        if version not in (0, SCHEMA_VERSION) or (version and self._pragma("application_id") != _APPLICATION_ID):
            raise MemoryStoreError(f"{self._name} is not a memory that this version can read (schema {version})")
        if version == 0:
            self._create(_has_fts5(self._db) if full_text is None else full_text)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._full_text = bool(self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'words'").fetchone())

    def _create(self, full_text: bool) -> None:
        with self._transaction():
            if self._pragma("user_version") != 0:
                return  # another process was quicker
            if self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise MemoryStoreError(f"{self._name} is a database, but not a memory")
            for statement in (*_TABLES, *(_FULL_TEXT if full_text else ())):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _pragma(self, name: str) -> int:
        return int(self._db.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _add(self, id: str, text: str, meta: str, at: int) -> str:
        with self._transaction():
            self._remove(id)
            row = self._db.execute("INSERT INTO entries (id, text, meta, at) VALUES (?, ?, ?, ?)", (id, text, meta, at))
            if self._full_text:
                self._db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (row.lastrowid, text))
        return id

    def _forget(self, id: str) -> bool:
        with self._transaction():
            return self._remove(id)

    def _remove(self, id: str) -> bool:
        found = self._db.execute("SELECT row, text FROM entries WHERE id = ?", (id,)).fetchone()
        if found is None:
            return False
        if self._full_text:
            # The index is told the old text, which it keeps no copy of.
            self._db.execute("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", found)
        self._db.execute("DELETE FROM entries WHERE row = ?", found[:1])
        return True

    def _recall(self, terms: list[str], most: int, bounds: tuple[str | None, int | None, int | None]) -> list[Entry]:
        tag, since, until = bounds
        if self._full_text:
            # Quoted, a term is only words to FTS5, whatever stands in it.
            asked = " OR ".join(f'"{term}"' for term in terms)
            score, source = "-bm25(words)", "words JOIN entries ON entries.row = words.rowid WHERE words MATCH :asked"
        else:
            asked = " ".join(terms)
            score, source = "words_held(:asked, entries.text)", "entries WHERE words_held(:asked, entries.text) > 0"
        rows = self._db.execute(
            f"SELECT entries.id, entries.text, entries.meta, {score} AS score FROM {source} {_BOUNDS} "
            "ORDER BY score DESC, entries.at DESC, entries.id LIMIT :most",
            {"asked": asked, "tag": tag, "since": since, "until": until, "most": most},
        )
        return list(_within(rows, MAX_RECALLED_BYTES))


_TABLES = (
    "CREATE TABLE entries (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, "
    "meta TEXT NOT NULL, at INTEGER NOT NULL)",
    "CREATE INDEX entries_at ON entries (at)",
)
_FULL_TEXT = (
    "CREATE VIRTUAL TABLE words USING fts5 (text, content = 'entries', content_rowid = 'row', "
    "tokenize = 'porter unicode61')",
)
_BOUNDS = (
    "AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(entries.meta, '$.tags') AS tags WHERE tags.value = :tag)) "
    "AND (:since IS NULL OR entries.at >= :since) AND (:until IS NULL OR entries.at <= :until)"
)


def _words(text: str) -> list[str]:
    """The words of a text, each once."""
    return list(dict.fromkeys(_WORD.findall(text.lower())))


def _words_held(asked: str, text: str) -> float:
    """The part of the words asked for that a text holds: the ranking without FTS5."""
    words = asked.split()
    return len(set(words) & set(_words(text))) / len(words)


def _within(rows: sqlite3.Cursor, most: int) -> Iterator[Entry]:
    for id, text, meta, score in rows:
        most -= (size := len(text.encode()))
        if most < 0:
            most += size
            continue
        entry: Entry = {"id": id, "text": text, "score": float(f"{score:.6g}")}
        if meta := loads(meta):
            entry["meta"] = meta
        yield entry


def _milliseconds(at: datetime | None) -> int:
    return int((time.time() if at is None else at.timestamp()) * 1000)


def _has_fts5(db: sqlite3.Connection) -> bool:
    return any(name == "ENABLE_FTS5" for (name,) in db.execute("PRAGMA compile_options"))


def _make_private(path: Path) -> None:
    """Make the file, for its owner alone, before SQLite would make it for everyone. One that is there is left as it is,
    and must be a file: a link could lead to somebody else's database."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError("is not a file")
    finally:
        os.close(fd)
