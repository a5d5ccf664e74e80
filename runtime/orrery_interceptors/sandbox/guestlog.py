"""The one function that a guest may call: `log.write`.

It is called by the engine in the middle of a guest. An exception that leaves it would end the process, so nothing does;
and because Python delivers signals to the main thread between any two steps, calls of guests that log are made on
other threads (`guest`).
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from dataclasses import dataclass, field

import wasmtime
from wasmtime import component as wc

from . import capi
from .world import LOG

MAX_LINE = 4096
"""Bytes of a line; the rest is cut."""

_VAL = ctypes.sizeof(capi.Val)
_OF = capi.Val.of.offset


@dataclass(slots=True)
class LogLines:
    """What one call has logged. `limit` lines are kept; the others are counted."""

    limit: int
    kept: list[tuple[str, str]] = field(default_factory=list)
    dropped: int = 0

    def wants_more(self) -> bool:
        """Whether there is room for another line; counts it as dropped where not."""
        if len(self.kept) < self.limit:
            return True
        self.dropped += 1
        return False


class GuestLog:
    """Collects the lines of the call that runs on each thread. A guest runs on the thread that calls it."""

    def __init__(self) -> None:
        self._running = threading.local()
        self._callback = capi.HOST_FUNCTION(self._write)

    def begin(self, lines: LogLines) -> None:
        """Collect what the call that now begins on this thread logs."""
        self._running.lines = lines

    def end(self) -> None:
        """The call on this thread is over."""
        self._running.lines = None

    def link(self, linker: wc.Linker, *, through_library: bool = False) -> None:
        """Offer the interface to the components that the linker instantiates. This object must outlive the linker.

        `through_library` uses the library's conversion of arguments, for when the C structures are not what is known.
        """
        with linker.root() as root, root.add_instance(LOG) as log:
            if through_library:
                log.add_func("write", self._write_values)
                return
            error = capi.linker_add_func(
                capi.address(log), b"write", len(b"write"), ctypes.cast(self._callback, ctypes.c_void_p), None, None
            )
            if error:
                message = capi.take_message(error)
                capi.error_delete(error)
                raise wasmtime.WasmtimeError(message)

    def _write(self, data: int, context: int, kind: int, args: int, count: int, results: int, result_count: int) -> int:
        # Whatever is raised, memory that is not to be had included: the guest must not see it, the host must not end.
        with contextlib.suppress(BaseException):
            lines: LogLines | None = getattr(self._running, "lines", None)
            if lines is not None and lines.wants_more():
                level = capi.Record.from_address(args + _OF)
                text = capi.Record.from_address(args + _VAL + _OF)
                lines.kept.append((_read(level, 16), _read(text, MAX_LINE)))
        return 0

    def _write_values(self, store: object, level: str, message: str) -> None:
        with contextlib.suppress(BaseException):
            lines: LogLines | None = getattr(self._running, "lines", None)
            if lines is not None and lines.wants_more():
                lines.kept.append((level, _cut(message.encode())))


def _read(name: capi.Record, most: int) -> str:
    return _cut(ctypes.string_at(name.data, min(name.size, most + 1)), most) if name.size else ""


def _cut(data: bytes, most: int = MAX_LINE) -> str:
    return data.decode("utf-8", "ignore") if len(data) <= most else data[: most - 3].decode("utf-8", "ignore") + "…"
