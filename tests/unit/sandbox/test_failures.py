"""Every trap code means something, and every kind of failure can be met."""

from __future__ import annotations

import ctypes

import pytest
import wasmtime._ffi as ffi
from wasmtime import TrapCode

from orrery_interceptors.sandbox import capi
from orrery_interceptors.sandbox.failures import KINDS, root_cause, take_error
from orrery_interceptors.verdicts import FailureKind

# Where each kind is met with a real guest, or what stands for one.
MET = {
    FailureKind.DEADLINE: "hostile: spin",
    FailureKind.FUEL: "hostile: test_fuel_is_exact",
    FailureKind.MEMORY: "hostile: big-table",
    FailureKind.STACK: "hostile: recurse",
    FailureKind.TRAP: "hostile: unreachable",
    FailureKind.GUEST_ERROR: "hostile: error-of-escapes",
    FailureKind.INVALID_ANSWER: "hostile: answer-not-utf8",
    FailureKind.TOO_LARGE: "hostile: answer-too-large",
    FailureKind.BAD_PAYLOAD: "compose: test_a_payload_without_a_text_fails_by_mode",
    FailureKind.NO_SLOT: "runtime: test_calls_in_flight_are_bounded_and_the_wait_counts",
    FailureKind.CAP: "runtime: test_a_point_that_can_pass_its_cap_is_warned_of",
    FailureKind.GONE: "runtime: test_what_is_unloaded_denies",
    FailureKind.HOST: "compose: test_a_host_that_fails_while_asking_denies",
}


def failure_of(code: TrapCode) -> FailureKind:
    trap = ffi.wasmtime_trap_new_code(code.value)
    address = ctypes.cast(trap, ctypes.c_void_p).value
    assert address
    return take_error(address, instantiating=False, fuel=1, memory_mib=2, deadline_ms=3).kind


@pytest.mark.parametrize("code", TrapCode)
def test_every_trap_code_is_mapped_and_said(code: TrapCode) -> None:
    assert failure_of(code) is KINDS.get(code, FailureKind.TRAP)


def test_the_codes_with_a_kind_of_their_own() -> None:
    assert failure_of(TrapCode.INTERRUPT) is FailureKind.DEADLINE
    assert failure_of(TrapCode.OUT_OF_FUEL) is FailureKind.FUEL
    assert failure_of(TrapCode.STACK_OVERFLOW) is FailureKind.STACK
    assert failure_of(TrapCode.ALLOCATION_TOO_LARGE) is FailureKind.MEMORY


def test_every_kind_is_met_somewhere() -> None:
    assert set(MET) == set(FailureKind)


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("", "no reason given"),
        ("one", "one"),
        ("outer\n\nCaused by:\n    inner", "inner"),
        ("outer\n\nCaused by:\n    0: middle\n    1: inner", "inner"),
    ],
)
def test_the_innermost_cause_is_what_is_said(message: str, cause: str) -> None:
    assert root_cause(message) == cause


def test_an_error_that_is_no_trap_is_told_by_when_it_came() -> None:
    def error() -> int:
        made = ffi.wasmtime_error_new(b"resource limit")
        return ctypes.cast(made, ctypes.c_void_p).value or 0

    while_instantiating = take_error(error(), instantiating=True, fuel=1, memory_mib=2, deadline_ms=3)
    while_calling = take_error(error(), instantiating=False, fuel=1, memory_mib=2, deadline_ms=3)
    assert (while_instantiating.kind, while_calling.kind) == (FailureKind.MEMORY, FailureKind.INVALID_ANSWER)
    assert "resource limit" in while_calling.detail and capi.layout_problem() is None
