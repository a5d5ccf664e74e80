"""The same call through the library's public interface: for a wasmtime whose C structures are not those that are known.

Three times slower and without knowledge of any structure. Both ways are held to the same tests.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from time import monotonic
from types import SimpleNamespace
from typing import Any

import wasmtime

from ..points import Point, Site
from ..verdicts import Answer, Failure, Reply, Verdict
from .failures import no_answer, take_error
from .frames import FUNCTIONS, Argument
from .guest import Guest, answer_of
from .guestlog import LogLines
from .world import EXTENSION, PAYLOADS


class LibraryGuest(Guest):
    """A guest that is called through the library."""

    def ask(
        self,
        point: Point,
        interceptor: bytes,
        settings: bytes,
        site: Site,
        payload: tuple[Argument, ...],
        size: int,
        deadline_ms: int,
    ) -> Reply:
        """See `Guest.ask`."""
        if size > self._payload:
            return super().ask(point, interceptor, settings, site, payload, size, deadline_ms)
        where = _record(
            session=site.session,
            turn=site.turn,
            agent=site.agent,
            **{"pass": site.pass_, "call-id": site.call},
        )
        names = [name for name, _ in PAYLOADS[point].items]
        fields = {
            name: value.decode() if isinstance(value, bytes) else value
            for name, value in zip(names, payload, strict=True)
        }
        return self._run_values(
            FUNCTIONS[point], (interceptor.decode(), settings.decode(), where, _record(**fields)), deadline_ms
        )

    def register(self, settings: bytes, deadline_ms: int) -> Reply:
        """See `Guest.register`."""
        return self._run_values("register", (settings.decode(),), deadline_ms)

    def watch(self, watcher: bytes, settings: bytes, event: bytes, deadline_ms: int) -> Reply:
        """See `Guest.watch`."""
        return self._run_values("watch", (watcher.decode(), settings.decode(), event.decode()), deadline_ms)

    def _run_values(self, function: str, values: tuple[Any, ...], deadline_ms: int) -> Reply:
        arguments: Callable[[Any], None] = lambda slot: slot.append(values)  # noqa: E731  # stands in for a frame's fill
        return self._run(function, arguments, deadline_ms)

    def _call(
        self, function: str, fill: Callable[[Any], None], deadline: float, deadline_ms: int, lines: LogLines | None
    ) -> tuple[Verdict | Failure, int]:
        slot: list[tuple[Any, ...]] = []
        fill(slot)
        component, _, _, engine, linker = self._exports.owners
        bounds = self._bounds
        left = deadline - monotonic()
        if left <= 0:
            return no_answer(deadline_ms), 0
        host = self._host
        with wasmtime.Store(engine) as store:
            store.set_limits(*self._limits)
            store.set_fuel(bounds.fuel)
            if lines is not None:
                host.log.begin(lines)
            token, ticks = host.clock.start(left)
            instance = None
            try:
                store.set_epoch_deadline(ticks)
                instance = linker.instantiate(store, component)
                interface = instance.get_export_index(store, EXTENSION)
                func = instance.get_func(store, instance.get_export_index(store, function, interface))
                value = func(store, *slot[0])
            except wasmtime.WasmtimeError as error:
                failure = take_error(
                    ctypes.cast(error._consume(), ctypes.c_void_p).value or 0,
                    instantiating=instance is None,
                    fuel=bounds.fuel,
                    memory_mib=bounds.memory_mib,
                    deadline_ms=deadline_ms,
                )
                return failure, bounds.fuel - store.get_fuel()
            finally:
                host.clock.stop(token)
                if lines is not None:
                    host.log.end()
            used = bounds.fuel - store.get_fuel()
        return self._answer(function, value), used

    def _answer(self, function: str, value: Any) -> Verdict | Failure:
        if function == "watch":
            return Verdict(Answer.PROCEED)
        case, text = _case(function, value)
        size = len(text.encode())
        return answer_of(case, text if size <= self._output else size, self._bounds.output_kib)


def _case(function: str, value: Any) -> tuple[str, str]:
    """The case and its text. The library leaves a result or a variant untagged where its cases' types tell it.

    `register` is a tagged result of two texts. At `context.build` the verdict, of nothing or a text, is untagged within
    a tagged result; elsewhere a tagged verdict stands within an untagged result.
    """
    if isinstance(value, str):
        return "err", value
    if value.tag not in ("ok", "err"):
        return value.tag, value.payload or ""
    if value.tag == "err" or function == "register":
        return value.tag, value.payload
    return ("proceed", "") if value.payload is None else ("rewrite", value.payload)


def _record(**fields: Any) -> Any:
    return SimpleNamespace(**fields)
