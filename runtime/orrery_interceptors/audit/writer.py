"""The audit of a running host: records are handed over on the caller's path and written off it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from ..decisions import Decision
from ..errors import AuditError
from ..jsontext import Json
from ..points import Site
from .appender import Appender
from .records import decision_record

BATCH_SECONDS = 0.005
"""How long a record may wait for others before it is written."""

_MOST_WAITING = 8192

Sync = Literal["batch", "decision"]


class AuditWriter:
    """Writes the record of every decision. May be used from any thread.

    With `sync="decision"` a record is on the disk before `record` returns. With `"batch"` records are written within
    `BATCH_SECONDS`, and by `close`. Nothing is lost but by the end of the process: records that cannot be written stay,
    and from then on `record` raises.
    """

    def __init__(self, path: Path, sync: Sync = "batch") -> None:
        self.path = path
        self._sync = sync
        self._closed = False
        self.written = 0
        self._begin()

    def _begin(self) -> None:
        """Begin as after a fork: the thread is left behind, and what waits is the parent's to write."""
        self._pid = os.getpid()
        self._appender = Appender(self.path)
        self._waiting: list[Callable[[], dict[str, Json]]] = []
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._writing = threading.Lock()
        self._error: AuditError | None = None
        self._thread: threading.Thread | None = None

    def check(self) -> None:
        """Make the file where it is not there, and see that it can be appended to. Raises `AuditError`."""
        with self._writing:
            self._appender.append([], durable=False)

    def record(self, decision: Decision, asked: dict[str, Json], site: Site) -> None:
        """Take a decision down. Raises `AuditError` when the audit cannot be written."""
        if self._pid != os.getpid():
            self._begin()
        at = time.time()

        def make() -> dict[str, Json]:
            return decision_record(decision, asked, site, at)

        with self._changed:
            if self._closed:
                raise AuditError(f"{self.path}: the audit is closed")
            self._waiting.append(make)
            error, many = self._error, len(self._waiting) > _MOST_WAITING
            if self._sync == "batch" and not many and error is None:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="orrery-audit", daemon=True)
                    self._thread.start()
                if len(self._waiting) == 1:
                    self._changed.notify()
                return
        self.flush()

    def flush(self) -> None:
        """Write all that waits. Raises `AuditError` when that cannot be done; it then waits on."""
        with self._writing:
            with self._lock:
                batch, self._waiting = self._waiting, []
            if not batch:
                return
            try:
                self._appender.append(batch, durable=self._sync == "decision")
            except BaseException as error:
                with self._lock:
                    self._waiting = batch + self._waiting
                    self._error = error if isinstance(error, AuditError) else None
                raise
            self.written += len(batch)
            with self._lock:
                self._error = None

    def close(self) -> None:
        """Write all that waits and close the file. Raises `AuditError` when that cannot be done."""
        if self._pid != os.getpid():
            self._begin()
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
        try:
            self.flush()
        finally:
            self._appender.close()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                # Others may join; a close does not wait for them.
                self._changed.wait_for(lambda: self._closed, BATCH_SECONDS)
            try:
                self.flush()
            except AuditError:
                # Kept for the next decision, which raises it.
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, 0.1)
