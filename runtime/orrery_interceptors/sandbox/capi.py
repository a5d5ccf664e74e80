"""The part of wasmtime's C API that a call needs, bound once with plain integers for pointers.

The library's own bindings check and wrap every pointer; a call makes a dozen of these calls, so the wrapping would
cost more than the guest. Functions that cannot block keep the GIL (`PyDLL`), because giving it up and taking it back
costs more than they do; those that run guest code let it go (`CDLL`).

The structures are those of `wasmtime/component/val.h` of wasmtime 50. `layout_problem` compares them with what the
library's bindings declare; where they differ, calls go through the library (`librarycall`).
"""

from __future__ import annotations

import ctypes
from ctypes import (
    CDLL,
    CFUNCTYPE,
    PyDLL,
    Structure,
    Union,
    c_bool,
    c_char_p,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

import wasmtime._ffi as ffi  # the C API itself: the public package has no trap code of a component's call


class Name(Structure):
    """`wasm_name_t`: bytes that are not the structure's own. Assigning `data` keeps a reference to the bytes."""

    _fields_ = [("size", c_size_t), ("data", c_char_p)]


class Record(Structure):
    """`wasmtime_component_valrecord_t`."""

    _fields_ = [("size", c_size_t), ("data", c_void_p)]


class Result(Structure):
    """`wasmtime_component_valresult_t`."""

    _fields_ = [("is_ok", c_bool), ("val", c_void_p)]


class Variant(Structure):
    """`wasmtime_component_valvariant_t`, as it is read: the discriminant's bytes by address."""

    _fields_ = [("size", c_size_t), ("data", c_void_p), ("val", c_void_p)]


class Of(Union):
    """`wasmtime_component_valunion_t`, as far as the world needs it."""

    _fields_ = [
        ("u32", c_uint32),
        ("u64", c_uint64),
        ("string", Name),
        ("text", Record),  # a string as it is read: its bytes by address
        ("record", Record),
        ("variant", Variant),
        ("option", c_void_p),
        ("result", Result),
    ]


class Val(Structure):
    """`wasmtime_component_val_t`."""

    _fields_ = [("kind", c_uint8), ("of", Of)]


class Entry(Structure):
    """`wasmtime_component_valrecord_entry_t`."""

    _fields_ = [("name", Name), ("val", Val)]


class ByteVec(Structure):
    """`wasm_byte_vec_t`, owned by C."""

    _fields_ = [("size", c_size_t), ("data", c_void_p)]


FUNC_BYTES = ctypes.sizeof(ffi.wasmtime_component_func_t)
INSTANCE_BYTES = ctypes.sizeof(ffi.wasmtime_component_instance_t)
"""The sizes of the handles within a store, which are only passed on."""

U32: int = ffi.WASMTIME_COMPONENT_U32.value
U64: int = ffi.WASMTIME_COMPONENT_U64.value
STRING: int = ffi.WASMTIME_COMPONENT_STRING.value
RECORD: int = ffi.WASMTIME_COMPONENT_RECORD.value
VARIANT: int = ffi.WASMTIME_COMPONENT_VARIANT.value
ENUM: int = ffi.WASMTIME_COMPONENT_ENUM.value
OPTION: int = ffi.WASMTIME_COMPONENT_OPTION.value
RESULT: int = ffi.WASMTIME_COMPONENT_RESULT.value

_quick = PyDLL(str(ffi.filename))
_slow = CDLL(str(ffi.filename))


def _bind(library: Any, name: str, result: Any, *arguments: Any) -> Any:
    function = library[name]
    function.restype = result
    function.argtypes = arguments
    return function


store_new = _bind(_quick, "wasmtime_store_new", c_void_p, c_void_p, c_void_p, c_void_p)
store_context = _bind(_quick, "wasmtime_store_context", c_void_p, c_void_p)
store_limiter = _bind(_quick, "wasmtime_store_limiter", None, c_void_p, c_int64, c_int64, c_int64, c_int64, c_int64)
store_delete = _bind(_quick, "wasmtime_store_delete", None, c_void_p)
context_get_data = _bind(_quick, "wasmtime_context_get_data", c_void_p, c_void_p)
set_fuel = _bind(_quick, "wasmtime_context_set_fuel", c_void_p, c_void_p, c_uint64)
get_fuel = _bind(_quick, "wasmtime_context_get_fuel", c_void_p, c_void_p, c_void_p)
set_epoch_deadline = _bind(_quick, "wasmtime_context_set_epoch_deadline", None, c_void_p, c_uint64)
increment_epoch = _bind(_quick, "wasmtime_engine_increment_epoch", None, c_void_p)
instance_get_func = _bind(
    _quick, "wasmtime_component_instance_get_func", c_bool, c_void_p, c_void_p, c_void_p, c_void_p
)
val_delete = _bind(_quick, "wasmtime_component_val_delete", None, c_void_p)
trap_code = _bind(_quick, "wasmtime_trap_code", c_bool, c_void_p, c_void_p)
error_message = _bind(_quick, "wasmtime_error_message", None, c_void_p, c_void_p)
error_delete = _bind(_quick, "wasmtime_error_delete", None, c_void_p)
byte_vec_delete = _bind(_quick, "wasm_byte_vec_delete", None, c_void_p)
linker_add_func = _bind(
    _quick,
    "wasmtime_component_linker_instance_add_func",
    c_void_p,
    c_void_p,
    c_char_p,
    c_size_t,
    c_void_p,
    c_void_p,
    c_void_p,
)

# A start function is guest code, and so is all of a call.
instantiate = _bind(_slow, "wasmtime_component_linker_instantiate", c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)
func_call = _bind(
    _slow,
    "wasmtime_component_func_call",
    c_void_p,
    c_void_p,
    c_void_p,
    c_void_p,
    c_size_t,
    c_void_p,
    c_size_t,
)

HOST_FUNCTION = CFUNCTYPE(c_size_t, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t)
"""A function that a component imports: data, context, type, arguments, their count, results, their count → error."""


def address(managed: Any) -> int:
    """The address of what one of the library's objects owns. The object must outlive the use of the address."""
    return ctypes.cast(managed.ptr(), c_void_p).value or 0


def take_message(error: int) -> str:
    """The text of an error."""
    raw = ByteVec()
    error_message(error, ctypes.addressof(raw))
    try:
        return ctypes.string_at(raw.data, raw.size).decode("utf-8", "replace") if raw.size else ""
    finally:
        byte_vec_delete(ctypes.addressof(raw))


def layout_problem() -> str | None:
    """What about this wasmtime's structures is not as this module takes it to be, or None."""
    pairs: list[tuple[Any, Any]] = [
        (Name, ffi.wasm_name_t),
        (Record, ffi.wasmtime_component_valrecord_t),
        (Result, ffi.wasmtime_component_valresult_t),
        (Variant, ffi.wasmtime_component_valvariant_t),
        (Val, ffi.wasmtime_component_val_t),
        (Entry, ffi.wasmtime_component_valrecord_entry_t),
        (ByteVec, ffi.wasm_byte_vec_t),
    ]
    for ours, theirs in pairs:
        if ctypes.sizeof(ours) != ctypes.sizeof(theirs):
            return f"{theirs.__name__} has {ctypes.sizeof(theirs)} bytes, not {ctypes.sizeof(ours)}"
    val: Any = ffi.wasmtime_component_val_t
    ours_val: Any = Val
    ours_entry: Any = Entry
    ours_variant: Any = Variant
    theirs_of: Any = ffi.wasmtime_component_valunion_t
    if val.of.offset != ours_val.of.offset or val.kind.offset != ours_val.kind.offset:
        return "wasmtime_component_val_t has its fields elsewhere"
    for ours_name, theirs_name in (("string", "string"), ("variant", "variant"), ("result", "result"), ("u64", "u64")):
        if getattr(theirs_of, theirs_name).offset != getattr(Of, ours_name).offset:
            return f"wasmtime_component_valunion_t has {theirs_name} elsewhere"
    entry: Any = ffi.wasmtime_component_valrecord_entry_t
    variant: Any = ffi.wasmtime_component_valvariant_t
    if entry.val.offset != ours_entry.val.offset or variant.val.offset != ours_variant.val.offset:
        return "a structure has its fields elsewhere"
    return None
