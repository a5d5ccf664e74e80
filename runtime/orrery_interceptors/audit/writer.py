"""The audit of a running host: records are handed over on the caller's path and written off it."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from functools import partial
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
        # Appended to without a lock, which a deque allows; taken from under `_writing`.
        self._waiting: deque[tuple[Decision, dict[str, Json], Site, float]] = deque()
        self._writing = threading.Lock()
        self._error: AuditError | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._sleeping = True
        self._wanted = threading.Event()
        self._ending = threading.Event()

    def check(self) -> None:
        """Make the file where it is not there, and see that it can be appended to. Raises `AuditError`."""
        with self._writing:
            self._appender.append([], durable=False)

    def record(self, decision: Decision, asked: dict[str, Json], site: Site) -> None:
        """Take a decision down. Raises `AuditError` when the audit cannot be written."""
        if self._pid != os.getpid():
            self._begin()
        if self._closed:
            raise AuditError(f"{self.path}: the audit is closed")
        self._waiting.append((decision, asked, site, time.time()))
        if self._sync == "decision" or self._error is not None or len(self._waiting) > _MOST_WAITING:
            self.flush()
        elif self._sleeping:
            self._sleeping = False
            if self._thread is None:
                self._start()
            self._wanted.set()

    def flush(self) -> None:
        """Write all that waits. Raises `AuditError` when that cannot be done; it then waits on."""
        with self._writing:
            batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if not batch:
                return
            try:
                self._appender.append(
                    [partial(decision_record, *item) for item in batch], durable=self._sync == "decision"
                )
            except BaseException as error:
                self._waiting.extendleft(reversed(batch))
                self._error = error if isinstance(error, AuditError) else None
                raise
            self.written += len(batch)
            self._error = None

    def close(self) -> None:
        """Write all that waits and close the file. Raises `AuditError` when that cannot be done."""
        if self._pid != os.getpid():
            self._begin()
        self._closed = True
        self._ending.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()
        try:
            self.flush()
        finally:
            self._appender.close()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="orrery-audit", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._closed:
            self._sleeping = True
            # Looked at again now: who came before that saw a thread that was awake, and did not wake it.
            if not self._waiting:
                self._wanted.wait()
            self._sleeping = False
            self._wanted.clear()
            self._ending.wait(BATCH_SECONDS)
            try:
                self.flush()
            except AuditError:
                # Kept for the next decision, which raises it.
                self._ending.wait(0.1)
