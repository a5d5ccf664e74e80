"""The floor: one call straight on wasmtime's C API, with nothing of ours but the component and the argument structures.

A new store, its limits, fuel and epoch, an instance from the pool, one call, the answer's case read, all of it dropped.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

from orrery_interceptors.points import Point, Site
from orrery_interceptors.sandbox import Bounds, CodeCache, CompileLimits, Sandbox, capi, default_folder
from orrery_interceptors.sandbox.frames import Frame


def make_floor(component: Path, interceptor: bytes) -> Callable[[], None]:
    """A function that makes one such call of `tool-before`."""
    sandbox = Sandbox(cache=CodeCache(default_folder()), compiling=CompileLimits(60, 2048))
    guest = sandbox.load(component.read_bytes(), Bounds(10**9, 64, 1024, 8192, 16, 64)).guest
    host, exports, limits = guest._host, guest._exports, guest._limits
    frame = Frame("tool-before")
    frame.texts(interceptor, b"{}")
    frame.site(Site("s", 1, 1))
    frame.payload((b"builtin.bash", b'{"command":"ls"}'))
    instance = (ctypes.c_char * capi.INSTANCE_BYTES)()
    func = (ctypes.c_char * capi.FUNC_BYTES)()
    at_instance, at_func = ctypes.addressof(instance), ctypes.addressof(func)
    results = (ctypes.c_uint64 * 4)()
    at_results = ctypes.addressof(results)
    index = exports.functions["tool-before"]
    keep = (sandbox, guest, instance, func, results, frame)

    def call(keep: object = keep) -> None:
        store = capi.store_new(host.engine, None, None)
        context = capi.store_context(store)
        capi.store_limiter(store, *limits)
        capi.set_fuel(context, 10**9)
        capi.set_epoch_deadline(context, 1000)
        assert not capi.instantiate(host.linker, context, exports.component, at_instance)
        capi.instance_get_func(at_instance, context, index, at_func)
        assert not capi.func_call(at_func, context, frame.address, frame.count, at_results, 1)
        assert results[1] & 0xFF
        capi.val_delete(at_results)
        results[0] = 0
        capi.store_delete(store)

    assert Point.TOOL_BEFORE
    return call
