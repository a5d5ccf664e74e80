"""What a component's bytes say before any engine sees them: that it is one, and which memories it makes.

Read from the binary format (component model, `design/mvp/Binary.md`; core specification, section 5.5). wasmtime bounds
each memory and their number, not their sum, so a sound bound for each is worked out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

PAGE = 65536
CORE_MAGIC = b"\0asm\x01\0\0\0"
COMPONENT_MAGIC = b"\0asm\x0d\0\x01\0"

MAX_INSTANCES = 64
MAX_TABLES = 64
MAX_TABLE_ELEMENTS = 16384
"""Core instances and tables of one component, and elements of each table. Python guests have 38 instances."""

_UNKNOWN_MEMORIES = 16
_MAX_NESTING = 16


class ComponentError(ValueError):
    """The bytes are no component that can be an extension. `fix` says what to do, where there is something."""

    def __init__(self, what: str, fix: str | None = None) -> None:
        super().__init__(what)
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory that an instance makes, in bytes. `most` is None where it declares no maximum."""

    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """How many memories a component may make, how large each may be, and how large they are at least together."""

    memories: int
    each: int
    least: int


@dataclass(slots=True)
class _Scope:
    """One component: its modules' memories by index (None: a module from elsewhere), and what it instantiates."""

    modules: list[tuple[Memory, ...] | None] = field(default_factory=list)
    instantiated: list[int] = field(default_factory=list)
    nested_code: bool = False


def check_magic(data: bytes) -> None:
    """Raise `ComponentError` when the bytes do not begin like a component. Says what they are instead, where known."""
    if data[:8] == COMPONENT_MAGIC:
        return
    if data[:8] == CORE_MAGIC:
        raise ComponentError(
            "is a core WebAssembly module, not a component",
            "make a component of it: wasm-tools component new module.wasm -o component.wasm",
        )
    if data[:4] == CORE_MAGIC[:4]:
        if len(data) < 8:
            raise ComponentError(f"is cut short: {len(data)} bytes", "build or fetch it again")
        kind = "a component" if data[6:8] == COMPONENT_MAGIC[6:8] else "WebAssembly"
        raise ComponentError(
            f"is {kind} of the unknown version {data[4:8].hex(' ')}", "build it with tools for component model 0xd"
        )
    if not data:
        raise ComponentError("is empty", "build or fetch it again")
    if data.lstrip()[:1] == b"(":
        raise ComponentError(
            "is WebAssembly text, not a binary", "translate it: wasm-tools parse text.wat -o component.wasm"
        )
    raise ComponentError(
        f"is not WebAssembly: begins with {data[:4].hex(' ')}", "give a component built from the extension"
    )


def memory_plan(data: bytes, total: int) -> MemoryPlan:
    """Bounds under which the component's memories together never exceed `total` bytes.

    Where every instance is made from a module written in the component itself, memories that declare a small maximum
    leave the rest to the others. Otherwise each gets an equal share, and the engine holds it to that number of them.
    Raises `ComponentError` when the bytes are damaged.
    """
    scope = _component(_Reader(data, 8, len(data)), 0)
    memories: list[Memory] = []
    known = not scope.nested_code
    for index in scope.instantiated:
        made = scope.modules[index] if index < len(scope.modules) else None
        if made is None:
            known = False
        else:
            memories += made
    if not known:
        count = max(_UNKNOWN_MEMORIES, len(memories))
        return MemoryPlan(count, total // count // PAGE * PAGE, sum(memory.least for memory in memories))
    return MemoryPlan(len(memories), _level(memories, total), sum(memory.least for memory in memories))


def _level(memories: list[Memory], total: int) -> int:
    """The greatest size such that, no memory growing past it or past its own maximum, the sum stays within total."""
    bounded = sorted(memory.most for memory in memories if memory.most is not None)
    rest, count = total, len(memories)
    for most in bounded:
        if most * count > rest:
            break
        rest -= most
        count -= 1
    return (rest // count if count else total) // PAGE * PAGE


class _Reader:
    """Reads from a span of bytes; reading past its end is damage."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def byte(self) -> int:
        if self.at >= self.end:
            raise ComponentError(f"is damaged: ends at byte {self.end} within a section", "build or fetch it again")
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """An unsigned LEB128 of at most 64 bits."""
        result = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result
        raise ComponentError(f"is damaged: a number without end at byte {self.at}", "build or fetch it again")

    def span(self) -> _Reader:
        size = self.number()
        start = self.at
        if size > self.end - start:
            raise ComponentError(f"is damaged: ends at byte {self.end} within a section", "build or fetch it again")
        self.at += size
        return _Reader(self.data, start, self.at)

    def sections(self) -> Iterator[tuple[int, _Reader]]:
        while self.at < self.end:
            yield self.byte(), self.span()


def _component(reader: _Reader, depth: int) -> _Scope:
    if depth > _MAX_NESTING:
        raise ComponentError(f"nests components deeper than {_MAX_NESTING}")
    scope = _Scope()
    for identifier, body in reader.sections():
        if identifier == 1:
            scope.modules.append(tuple(_module(_skip_magic(body))))
        elif identifier == 2:
            scope.instantiated += _core_instances(body)
        elif identifier == 4:
            inner = _component(_skip_magic(body), depth + 1)
            scope.nested_code |= inner.nested_code or bool(inner.modules or inner.instantiated)
        elif identifier == 6:
            scope.modules += [None] * _module_aliases(body)
        elif identifier in (10, 11):
            # A module that is imported or exported takes a place among the modules; which one is not worth knowing.
            scope.nested_code |= _names_module(body, exported=identifier == 11)
    return scope


def _skip_magic(body: _Reader) -> _Reader:
    return _Reader(body.data, min(body.at + 8, body.end), body.end)


def _module(reader: _Reader) -> Iterator[Memory]:
    for identifier, body in reader.sections():
        if identifier == 5:
            for _ in range(body.number()):
                flags = body.byte()
                least = body.number() * PAGE
                yield Memory(least, body.number() * PAGE if flags & 1 else None)


def _core_instances(body: _Reader) -> Iterator[int]:
    for _ in range(body.number()):
        if body.byte() == 0:
            yield body.number()
            for _ in range(body.number()):
                body.span()
                body.byte()
                body.number()
        else:
            for _ in range(body.number()):
                body.span()
                body.byte()
                body.number()


def _module_aliases(body: _Reader) -> int:
    """How many of the aliases name core modules."""
    found = 0
    for _ in range(body.number()):
        sort = body.byte()
        core = body.byte() if sort == 0 else None
        target = body.byte()
        body.number()
        if target == 2:
            body.number()
        else:
            body.span()
        found += core == 0x11
    return found


def _names_module(body: _Reader, *, exported: bool) -> bool:
    """Whether an import or export section names a core module. Yes where it is of a form that is not known here."""
    for _ in range(body.number()):
        if body.byte() > 1:
            return True
        body.span()
        if exported:
            sort = body.byte()
            if sort == 0 and body.byte() == 0x11:
                return True
            body.number()
            if body.byte() == 0:
                continue
        kind = body.byte()
        if kind == 0 or kind > 5 or kind == 2:
            return True
        if kind != 3 or body.byte() == 0:
            body.number()
    return False
