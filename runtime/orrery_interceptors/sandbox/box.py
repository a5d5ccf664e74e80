"""The sandbox: an engine, its clock and its code cache, and the components loaded into it."""

from __future__ import annotations

import ctypes
import hashlib
from dataclasses import dataclass
from typing import Literal

import wasmtime
from wasmtime import component as wc

from ..reasons import clean, cut
from . import binary, capi, engine
from .binary import ComponentError, check_magic, memory_plan
from .clock import EpochClock
from .codecache import CacheRefusedError, CodeCache
from .compiler import CompileLimits, compile_component
from .engine import MIB
from .failures import root_cause
from .guest import Bounds, Exports, Guest, Host
from .guestlog import GuestLog
from .librarycall import LibraryGuest
from .workers import Workers
from .world import EXPORTS, EXTENSION, LOG, compare

MAX_COMPONENT = 256 * MIB
"""Bytes of a component. Python guests have 18 MB."""

Marshalling = Literal["direct", "library"]


def text_to_binary(text: str) -> bytes:
    """A component's binary from its text, for components of our own. Raises `ComponentError` when it is none."""
    try:
        return bytes(wasmtime.wat2wasm(text))
    except wasmtime.WasmtimeError as error:
        raise ComponentError(f"is not WebAssembly text: {error}") from None


@dataclass(frozen=True, slots=True)
class Loaded:
    """A component that was loaded. `warnings` say what was wrong with the code cache; `cached` whether it was used."""

    guest: Guest
    digest: str
    cached: bool
    logs: bool
    warnings: tuple[str, ...] = ()


def _make_engine(pooling: bool) -> tuple[wasmtime.Engine, str | None]:
    """An engine, and why it has no pool of instances: None where it has one."""
    if not pooling:
        return wasmtime.Engine(engine.make_config()), "not asked for"
    if not engine.pool_room(engine.RESERVATION, binary.MAX_TABLE_ELEMENTS):
        return wasmtime.Engine(engine.make_config()), "there is too little address space; see ulimit -v"
    try:
        config = engine.make_config()
        engine.set_pool(config, engine.RESERVATION, binary.MAX_INSTANCES, binary.MAX_TABLES, binary.MAX_TABLE_ELEMENTS)
        made = wasmtime.Engine(config)
        capi.address(made)
    except (wasmtime.WasmtimeError, AttributeError, OSError, ValueError) as error:
        return wasmtime.Engine(engine.make_config()), f"cannot be had here: {error}"
    return made, None


class Sandbox:
    """Loads components and holds what their calls share. May be used from any thread.

    `cache` is where compiled code is kept, None for nowhere. `marshalling` is chosen by itself: `direct` where
    wasmtime's structures are as known, else `library`, which is slower and answers the same.
    """

    def __init__(
        self,
        *,
        cache: CodeCache | None,
        compiling: CompileLimits,
        marshalling: Marshalling | None = None,
        pooling: bool = True,
    ) -> None:
        self._cache = cache
        self._compiling = compiling
        self.marshalling: Marshalling = marshalling or ("library" if capi.layout_problem() else "direct")
        self._engine, self.unpooled = _make_engine(pooling)
        self._linker = wc.Linker(self._engine)
        self._log = GuestLog()
        self._log.link(self._linker, through_library=self.marshalling == "library")
        pointer = capi.address(self._engine)
        self._host = Host(
            pointer,
            capi.address(self._linker),
            EpochClock(lambda: capi.increment_epoch(pointer)),
            self._log,
            Workers(),
        )

    @property
    def workers(self) -> Workers:
        """Threads on which guests may run."""
        return self._host.workers

    def load(self, data: bytes, bounds: Bounds) -> Loaded:
        """Load a component. Nothing of it has run when this returns.

        Raises `ComponentError` when it is not a component of the world `orrery-extension`, or cannot be compiled.
        """
        if len(data) > MAX_COMPONENT:
            raise ComponentError(f"has {len(data)} bytes; at most {MAX_COMPONENT} are read")
        check_magic(data)
        total = bounds.memory_mib * MIB
        plan = memory_plan(data, total)
        if plan.least > total:
            raise ComponentError(
                f"needs at least {-(-plan.least // MIB)} MiB of memory; limits.memoryMiB is {bounds.memory_mib}",
                "raise limits.memoryMiB if you trust it, or build it with less",
            )
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        component, cached, warnings = self._component(data, digest)
        if misfits := compare(component, self._engine):
            first, *others = misfits
            more = f" (and {len(others)} more)" if others else ""
            raise ComponentError(f"{first.what}{more}", first.fix)
        exports = self._exports(component)
        kind = Guest if self.marshalling == "direct" else LibraryGuest
        return Loaded(kind(self._host, exports, bounds, plan), digest, cached, exports.logs, tuple(warnings))

    def close(self) -> None:
        """End the threads. There must be no call running."""
        self._host.clock.close()
        self._host.workers.close()

    def _component(self, data: bytes, digest: str) -> tuple[wc.Component, bool, list[str]]:
        """The compiled component, from the cache where it has it."""
        key = engine.config_key()
        warnings: list[str] = []
        cache = self._cache
        try:
            if cache is not None and (found := cache.find(digest, key)) is not None:
                return wc.Component.deserialize_file(self._engine, str(found)), True, warnings
        except CacheRefusedError as refused:
            warnings.append(str(refused))
            cache = None
        except wasmtime.WasmtimeError as error:
            warnings.append(f"an entry of the code cache does not fit and is made again ({error})")
        code = compile_component(data, self._compiling)
        try:
            # First without the cache: what no instance can be made of is not kept.
            component = wc.Component.deserialize(self._engine, code)
        except wasmtime.WasmtimeError as error:
            cause = cut(clean(root_cause(str(error))), 300)
            raise ComponentError(f"needs more than a sandbox has: {cause}", "build it with less") from None
        if cache is not None:
            try:
                component = wc.Component.deserialize_file(self._engine, str(cache.keep(digest, key, code)))
            except CacheRefusedError as refused:
                warnings.append(str(refused))
        return component, False, warnings

    def _exports(self, component: wc.Component) -> Exports:
        interface = component.get_export_index(EXTENSION)
        indexes = {name: component.get_export_index(name, interface) for name in EXPORTS}
        functions = {}
        for name, index in indexes.items():
            if index is None:
                raise ComponentError(f"does not export {name}")
            functions[name] = ctypes.cast(index.ptr(), ctypes.c_void_p).value or 0
        owners = (component, indexes, interface, self._engine, self._linker)
        return Exports(capi.address(component), functions, LOG in component.type.imports(self._engine), owners)
