"""The bus: watchers are told what was asked and decided. They are never awaited and change nothing."""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .decisions import Decision
from .jsontext import RECORD_DEPTH, Json, JsonError, dumps
from .points import Site

_log = logging.getLogger("orrery_interceptors")

QUEUE = 1024
"""Events that wait for one watcher; further ones are lost, and counted."""


@dataclass(frozen=True, slots=True)
class Event:
    """What was asked, and what was decided. The payload is the one that was asked about; it must not be changed."""

    site: Site
    payload: Mapping[str, Json]
    decision: Decision
    _text: list[str | None] = field(default_factory=list, repr=False, compare=False)

    def to_json(self) -> Json:
        """The event as an extension's `watch` gets it."""
        return {
            "v": 1,
            "site": self.site.to_json(),
            "payload": dict(self.payload),
            "decision": self.decision.to_json(),
        }

    def text(self) -> str | None:
        """The event's JSON text, written once; None where the payload has none."""
        if not self._text:
            try:
                self._text.append(dumps(self.to_json(), RECORD_DEPTH))
            except JsonError:
                self._text.append(None)
        return self._text[0]


class Subscription:
    """One watcher: a bounded queue, and a thread that empties it. `lost` counts the events that found no room."""

    def __init__(self, name: str, watcher: Callable[[Event], object], size: int = QUEUE) -> None:
        self.name = name
        self.lost = 0
        self._watcher = watcher
        self._size = size
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        """Begin as after a fork, which leaves the thread behind, and what the parent tells to the parent."""
        self._pid = os.getpid()
        self._events: deque[Event] = deque()
        self._changed = threading.Condition()
        self._busy = False
        self._thread: threading.Thread | None = None

    def put(self, event: Event) -> None:
        """Tell the watcher, if there is room. Never waits."""
        if self._pid != os.getpid():
            self._begin()
        with self._changed:
            if self._closed:
                return
            if len(self._events) >= self._size:
                self.lost += 1
                return
            self._events.append(event)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"orrery-watch-{self.name}", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def drain(self, seconds: float) -> bool:
        """Wait until the watcher was told all it is to be told, at most so long. Whether it was."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._events and not self._busy, seconds)

    def close(self) -> None:
        """End the watcher. What still waits is lost, and counted; a call that runs is not waited for."""
        with self._changed:
            self._closed = True
            self.lost += len(self._events)
            self._events.clear()
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._closed or bool(self._events))
                if self._closed:
                    return
                event = self._events.popleft()
                self._busy = True
            try:
                self._watcher(event)
            except Exception:
                _log.exception("the watcher %s failed", self.name)
