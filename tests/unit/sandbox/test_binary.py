"""What a component's bytes say: magic, memories, and the bound that keeps their sum."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery_interceptors.sandbox.binary import (
    COMPONENT_MAGIC,
    CORE_MAGIC,
    PAGE,
    ComponentError,
    Memory,
    _level,
    check_magic,
    memory_plan,
)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is empty"),
        (CORE_MAGIC, "is a core WebAssembly module"),
        (b"\0asm\x02\0\0\0", "unknown version"),
        (b"\0asm\x0a\0\x01\0", "is a component of the unknown version"),
        (b"\0asm", "is cut short"),
        (b"(component)", "is WebAssembly text"),
        (b"  (module)", "is WebAssembly text"),
        (b"#!/bin/sh", "is not WebAssembly"),
        (b"\x7fELF", "is not WebAssembly"),
    ],
)
def test_other_files_are_named(data: bytes, what: str) -> None:
    with pytest.raises(ComponentError, match=what) as caught:
        check_magic(data)
    assert caught.value.fix


def leb(number: int) -> bytes:
    out = bytearray()
    while True:
        byte, number = number & 0x7F, number >> 7
        out.append(byte | (0x80 if number else 0))
        if not number:
            return bytes(out)


def section(identifier: int, body: bytes) -> bytes:
    return bytes([identifier]) + leb(len(body)) + body


def module(*memories: tuple[int, int | None]) -> bytes:
    body = leb(len(memories))
    for least, most in memories:
        body += (b"\x01" + leb(least) + leb(most)) if most is not None else (b"\x00" + leb(least))
    return section(1, CORE_MAGIC + section(5, body))


def instances(*indexes: int) -> bytes:
    return section(2, leb(len(indexes)) + b"".join(b"\x00" + leb(index) + b"\x00" for index in indexes))


def component(*parts: bytes) -> bytes:
    return COMPONENT_MAGIC + b"".join(parts)


def test_the_memories_that_are_made_are_counted() -> None:
    total = 64 * PAGE
    assert memory_plan(component(), total).memories == 0
    one = memory_plan(component(module((2, None)), instances(0)), total)
    assert (one.memories, one.each, one.least) == (1, total, 2 * PAGE)
    twice = memory_plan(component(module((2, None)), instances(0, 0)), total)
    assert (twice.memories, twice.each) == (2, total // 2)
    small = memory_plan(component(module((1, 4)), module((1, None)), instances(0, 1)), total)
    assert (small.memories, small.each) == (2, 60 * PAGE)
    assert memory_plan(component(module((2, None))), total).memories == 0


def test_where_modules_come_from_elsewhere_every_memory_gets_an_equal_share() -> None:
    inner = section(4, component(module((1, None)), instances(0)))
    alias = section(6, leb(1) + b"\x00\x11" + b"\x00" + leb(0) + leb(1) + b"m")
    for parts in ((inner,), (alias, instances(0))):
        plan = memory_plan(component(*parts), 64 * PAGE)
        assert plan.memories * plan.each <= 64 * PAGE and plan.each == 4 * PAGE


@given(st.lists(st.tuples(st.integers(0, 50), st.none() | st.integers(0, 200)), max_size=8), st.integers(1, 300))
def test_the_sum_stays_within_the_bound_whatever_grows(sizes: list[tuple[int, int | None]], pages: int) -> None:
    memories = [Memory(least * PAGE, None if most is None else most * PAGE) for least, most in sizes]
    each = _level(memories, pages * PAGE)
    most = sum(min(each, memory.most) if memory.most is not None else each for memory in memories)
    assert most <= pages * PAGE
    if memories and any(memory.most is None for memory in memories):
        # Not a page less than it could be.
        unbounded = sum(memory.most is None or memory.most > each for memory in memories)
        assert most + unbounded * PAGE > pages * PAGE


@given(st.binary(max_size=200))
def test_damage_is_an_error_and_nothing_else(data: bytes) -> None:
    try:
        memory_plan(COMPONENT_MAGIC + data, 64 * PAGE)
    except ComponentError as error:
        assert str(error)


def test_nesting_ends() -> None:
    data = component()
    for _ in range(40):
        data = component(section(4, data))
    with pytest.raises(ComponentError, match="nests components deeper"):
        memory_plan(data, PAGE)
