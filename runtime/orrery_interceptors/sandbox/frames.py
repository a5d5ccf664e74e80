"""Arguments and answers of the world's functions, straight in the C API's structures.

A frame is made once for each thread and function and filled for each call: no type is asked for and no value converted
that the world does not have. The strings given to a call must outlive it; a frame keeps the last ones it was given.
"""

from __future__ import annotations

import ctypes
import threading
from ctypes import addressof, c_uint64, string_at

from ..points import Point, Site
from . import capi
from .world import EXPORTS, Type, function_name

Text = bytes
"""A string of the world: UTF-8, which is not checked again."""

Argument = Text | int | None
"""A field of a payload: a string, or a number that may be missing."""

_KINDS = {"string": capi.STRING, "u32": capi.U32, "record": capi.RECORD, "option": capi.OPTION}
_LARGE = 64 * 1024
_Words = c_uint64 * 4
_CASES = {case.encode(): case for case in ("proceed", "deny", "rewrite", "handled")}


class Results:
    """Where an answer is written, and how it is read."""

    def __init__(self) -> None:
        # kind; result: is_ok, val. Read as words: three reads are cheaper than views of structures.
        self._words = (c_uint64 * (ctypes.sizeof(capi.Val) // 8))()
        self.address = addressof(self._words)

    def take(self, most: int) -> tuple[str, str | int]:
        """The case that was answered and its text; where the text has more than `most` bytes, their number.

        A function that returned text alone gives the case `ok`; an error of the guest, the case `err`. Raises
        `UnicodeDecodeError` never: the engine has checked the text. What C allocated is freed.
        """
        words = self._words
        try:
            inner = words[2]
            if not words[1] & 0xFF:
                return "err", _text(inner, most)
            if not inner:
                return "ok", ""
            kind, first, second, payload = _Words.from_address(inner)
            if kind & 0xFF != capi.VARIANT:
                return "ok", _text(inner, most)
            case = _CASES.get(string_at(second, first), "")
            return case, _text(payload, most) if payload else ""
        finally:
            capi.val_delete(self.address)
            # The next call drops what stands here before it writes: a boolean, which owns nothing.
            words[0] = 0


def _text(at: int, most: int) -> str | int:
    _, size, data, _ = _Words.from_address(at)
    if size > most:
        return int(size)
    return string_at(data, size).decode() if size else ""


class Frame:
    """The arguments of one function on one thread."""

    def __init__(self, name: str) -> None:
        params = EXPORTS[name].params
        self.params = (capi.Val * len(params))()
        self.count = len(params)
        self.address = addressof(self.params)
        self.results = Results() if EXPORTS[name].result is not None else None
        self._kept: list[object] = []
        self._strings: list[capi.Name] = []
        self._site: list[capi.Val] = []
        self._payload: list[capi.Val] = []
        for value, (param, of) in zip(self.params, params, strict=True):
            value.kind = _KINDS[of.kind]
            if of.kind == "string":
                self._strings.append(value.of.string)
            else:
                (self._site if param == "at" else self._payload).extend(self._record(value, of))
        self._last_site: Site | None = None
        self._last_texts: tuple[Text, ...] | None = None
        self._call_id = capi.Val(kind=capi.STRING)
        self._call_name = self._call_id.of.string
        self._budget = capi.Val(kind=capi.U64)
        self._names = [
            value.of.string if value.kind == capi.STRING else None for value in (*self._site, *self._payload)
        ]

    def _record(self, value: capi.Val, of: Type) -> list[capi.Val]:
        entries = (capi.Entry * len(of.items))()
        self._kept.append(entries)
        value.of.record.size = len(of.items)
        value.of.record.data = addressof(entries)
        for entry, (field, kind) in zip(entries, of.items, strict=True):
            entry.name.data = field.encode()
            entry.name.size = len(field)
            assert kind is not None
            entry.val.kind = _KINDS[kind.kind]
        return [entry.val for entry in entries]

    def texts(self, *values: Text) -> None:
        """Set the plain strings, in order; those that are the last ones are there already."""
        if values is self._last_texts or values == self._last_texts:
            return
        for name, value in zip(self._strings, values, strict=True):
            name.data = value
            name.size = len(value)
        self._last_texts = values

    def site(self, site: Site) -> None:
        """Set the site; free of cost where it is the last one."""
        if site is self._last_site:
            return
        values, names = self._site, self._names
        session, agent = site.session.encode(), site.agent.encode()
        for name, text in ((names[0], session), (names[3], agent)):
            assert name is not None
            name.data = text
            name.size = len(text)
        values[1].of.u32 = site.turn
        values[2].of.u32 = site.pass_
        if site.call is None:
            values[4].of.option = None
        else:
            call = site.call.encode()
            self._call_name.data = call
            self._call_name.size = len(call)
            values[4].of.option = addressof(self._call_id)
        self._last_site = site

    def payload(self, fields: tuple[Argument, ...]) -> None:
        """Set the payload's fields, in the order of the contract."""
        at = len(self._site)
        for value in fields:
            name = self._names[at]
            if name is not None:
                name.data = value
                name.size = len(value)  # type: ignore[arg-type]  # a string's place takes a string
            elif value is None:
                self._payload[at - len(self._site)].of.option = None
            else:
                self._budget.of.u64 = value
                self._payload[at - len(self._site)].of.option = addressof(self._budget)
            at += 1

    def release(self) -> None:
        """Let go of large texts, which would else stay until the thread's next call."""
        for name in (*self._strings, *self._names):
            if name is not None and name.size > _LARGE:
                name.size = 0
                name.data = b""
                self._last_site = self._last_texts = None


class Frames(threading.local):
    """The frames of the current thread, made when they are first needed."""

    def __init__(self) -> None:
        self._frames: dict[str, Frame] = {}

    def get(self, name: str) -> Frame:
        """The frame of a function."""
        frame = self._frames.get(name)
        if frame is None:
            frame = self._frames[name] = Frame(name)
        return frame


FUNCTIONS = {point: function_name(point) for point in Point}
