"""The engine: what WebAssembly may be here at all.

Everything an extension does not need is off, so that what is not understood here cannot be used there. The settings
decide which compiled code fits, so they are part of the cache's key (`config_key`).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import mmap
from collections.abc import Callable

import wasmtime
import wasmtime._ffi as ffi

KIB = 1024
MIB = 1024 * 1024

MAX_WASM_STACK = 512 * KIB
"""The stack of a guest, on the thread that calls it; a thread with less than `MIN_THREAD_STACK` makes no calls."""

MIN_THREAD_STACK = MAX_WASM_STACK + 512 * KIB

RESERVATION = 64 * MIB
"""Address space for each memory. The library's default of 4 GiB does not go with a limit on address space."""

_GUARD = 64 * KIB
_GROWTH = 16 * MIB

_OFF = (
    "wasm_threads",
    "shared_memory",
    "wasm_memory64",
    "wasm_relaxed_simd",
    "wasm_exceptions",
    "wasm_function_references",
    "wasm_gc",
    "wasm_wide_arithmetic",
    "wasm_custom_page_sizes",
    "wasm_stack_switching",
    "wasm_component_model_map",
    "wasm_component_model_implements",
)
# Not in the library's Config. Component async would let a guest's import types end the process.
_OFF_IN_C: tuple[Callable[[object, bool], None], ...] = (
    ffi.wasmtime_config_wasm_component_model_async_set,
    ffi.wasmtime_config_wasm_component_model_more_async_builtins_set,
    ffi.wasmtime_config_wasm_component_model_async_stackful_set,
    ffi.wasmtime_config_concurrency_support_set,
)


POOL_SLOTS = 256
"""Calls that may hold an instance at once, from the pool. A call beyond them is refused room, and fails by its mode."""

_POOL_RESIDENT = 256 * KIB
"""How much of a memory stays with its slot between calls, wiped. Less costs page faults, more costs wiping."""


def pool_room(memory: int, elements: int) -> bool:
    """Whether there is address space for a pool. Where there is none, making the engine would end the process."""
    size = POOL_SLOTS * 2 * (memory + _GUARD) + POOL_SLOTS * 8 * elements * 8 + 1024 * MIB
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    try:
        mmap.mmap(-1, size, flags=flags, prot=0).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True


def set_pool(config: wasmtime.Config, memory: int, instances: int, tables: int, elements: int) -> None:
    """Have instances come from a pool of slots that are reserved once, in place of mapping memory for each call.

    `memory` is the most bytes of a linear memory. Not in the library's Config; this is the C API that it binds.
    """
    pool = ffi.wasmtime_pooling_allocation_config_new()
    for name, value in (
        ("total_component_instances", POOL_SLOTS),
        ("total_core_instances", POOL_SLOTS * 8),
        ("total_memories", POOL_SLOTS * 2),
        ("total_tables", POOL_SLOTS * 8),
        ("total_stacks", 1),
        ("max_core_instances_per_component", instances),
        ("max_memories_per_component", instances),
        ("max_tables_per_component", tables),
        ("max_component_instance_size", 4 * MIB),
        ("max_core_instance_size", 4 * MIB),
        ("table_elements", elements),
        ("max_memory_size", memory),
        ("linear_memory_keep_resident", _POOL_RESIDENT),
        ("table_keep_resident", 64 * KIB),
        ("max_unused_warm_slots", POOL_SLOTS),
    ):
        getattr(ffi, f"wasmtime_pooling_allocation_config_{name}_set")(pool, value)
    ffi.wasmtime_pooling_allocation_strategy_set(config.ptr(), pool)
    ffi.wasmtime_pooling_allocation_config_delete(pool)


def make_config() -> wasmtime.Config:
    """The configuration of every engine, those that compile in a child process included."""
    config = wasmtime.Config()
    for name in _OFF:
        setattr(config, name, False)
    for setter in _OFF_IN_C:
        setter(config.ptr(), False)
    config.wasm_component_model = True
    # For the adapters that the engine makes between components within one, as JavaScript guests have them. Each memory
    # is counted (`binary`).
    config.wasm_multi_memory = True
    config.wasm_relaxed_simd_deterministic = True
    config.cranelift_nan_canonicalization = True
    config.consume_fuel = True
    config.epoch_interruption = True
    config.cranelift_opt_level = "speed"
    # A process that compiled in several threads cannot be forked without hanging its child.
    config.parallel_compilation = False
    config.max_wasm_stack = MAX_WASM_STACK
    config.memory_reservation = RESERVATION
    config.memory_guard_size = _GUARD
    config.memory_reservation_for_growth = _GROWTH
    return config


def config_key() -> str:
    """A digest of everything that decides whether compiled code fits: the version of wasmtime and the settings."""
    said = (
        importlib.metadata.version("wasmtime"),
        _OFF,
        [f.__name__ for f in _OFF_IN_C],
        MAX_WASM_STACK,
        RESERVATION,
        _GUARD,
        _GROWTH,
    )
    return hashlib.sha256(repr((said, "speed", 1)).encode()).hexdigest()[:16]
