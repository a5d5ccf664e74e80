"""From what the engine reports to why an answer did not come. Codes are typed; messages are only shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ctypes import addressof, c_uint8

from wasmtime import TrapCode

from ..reasons import clean, cut
from ..verdicts import Failure, FailureKind
from . import capi
from .engine import MAX_WASM_STACK

KINDS: Mapping[TrapCode, FailureKind] = {
    TrapCode.INTERRUPT: FailureKind.DEADLINE,
    TrapCode.OUT_OF_FUEL: FailureKind.FUEL,
    TrapCode.STACK_OVERFLOW: FailureKind.STACK,
    TrapCode.ALLOCATION_TOO_LARGE: FailureKind.MEMORY,
    # What the engine finds where a guest hands a value over: it lies outside the memory, or is no case that there is.
    TrapCode.STRING_OUT_OF_BOUNDS: FailureKind.INVALID_ANSWER,
    TrapCode.LIST_OUT_OF_BOUNDS: FailureKind.INVALID_ANSWER,
    TrapCode.INVALID_DISCRIMINANT: FailureKind.INVALID_ANSWER,
    TrapCode.INVALID_CHAR: FailureKind.INVALID_ANSWER,
    TrapCode.UNALIGNED_POINTER: FailureKind.INVALID_ANSWER,
}
"""The trap codes with a kind of their own. Every other one is `FailureKind.TRAP`."""

_WORDS = {
    TrapCode.UNREACHABLE: "stopped by itself (a panic, or memory that was not to be had)",
    TrapCode.MEMORY_OUT_OF_BOUNDS: "read or wrote outside its memory",
    TrapCode.INTEGER_DIVISION_BY_ZERO: "divided by zero",
    TrapCode.INVALID_DISCRIMINANT: "gave the host a case that there is not",
    TrapCode.STRING_OUT_OF_BOUNDS: "gave the host a text outside its memory",
    TrapCode.UNALIGNED_POINTER: "gave the host an unaligned address",
}


def take_error(error: int, *, instantiating: bool, fuel: int, memory_mib: int, deadline_ms: int) -> Failure:
    """What an error of the engine means. Frees it. The limits are those of the call, for the sentence."""
    try:
        code = _trap_code(error)
        if code is None:
            message = cut(clean(root_cause(capi.take_message(error))), 200)
            if instantiating:
                return Failure(
                    FailureKind.MEMORY, f"needs more memory than {memory_mib} MiB, or tables ({message})", memory_mib
                )
            return Failure(FailureKind.INVALID_ANSWER, f"gave an answer that cannot be read ({message})")
    finally:
        capi.error_delete(error)
    kind = KINDS.get(code, FailureKind.TRAP)
    if kind is FailureKind.DEADLINE:
        return no_answer(deadline_ms)
    if kind is FailureKind.FUEL:
        return Failure(kind, f"used up its fuel of {fuel}", fuel)
    if kind is FailureKind.STACK:
        limit = MAX_WASM_STACK // 1024
        return Failure(kind, f"recursed beyond the stack of {limit} KiB", limit)
    if kind is FailureKind.MEMORY:
        return Failure(kind, f"needs more memory than {memory_mib} MiB", memory_mib)
    words = _WORDS.get(code) or code.name.lower().replace("_", " ")
    return Failure(kind, words if kind is FailureKind.INVALID_ANSWER else f"trapped: {words}")


def root_cause(message: str) -> str:
    """The innermost cause of an error of the engine, whose messages go from the outermost to the innermost."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return re.sub(r"^\d+: ", "", lines[-1]) if lines else "no reason given"


def no_answer(deadline_ms: int) -> Failure:
    """The failure of a deadline."""
    return Failure(FailureKind.DEADLINE, f"no answer within {deadline_ms} ms", deadline_ms)


def _trap_code(error: int) -> TrapCode | None:
    """The trap code of an error, None where it is no trap.

    wasmtime's C API has this function for `wasm_trap_t`, which is laid out as `wasmtime_error_t`.
    """
    code = c_uint8()
    if not capi.trap_code(error, addressof(code)):
        return None
    try:
        return TrapCode(code.value)
    except ValueError:
        # A code that this version of the library does not name is a trap all the same.
        return TrapCode.UNREACHABLE
