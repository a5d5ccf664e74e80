"""The world `orrery-extension`, as types, and a component's imports and exports held against it.

The engine takes the guest's word for the types of what it imports, and a call trusts the types of what it exports; so
every signature is compared before anything is instantiated. `wit/interceptors.wit` is where this is written down; a
test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import wasmtime
import wasmtime._ffi as ffi
from wasmtime import component as wc

from ..points import Point
from ..reasons import clean, cut

PACKAGE = "orrery:interceptors"
VERSION = "1.0.0"
LOG = f"{PACKAGE}/log@{VERSION}"
EXTENSION = f"{PACKAGE}/extension@{VERSION}"


@dataclass(frozen=True, slots=True)
class Type:
    """A component type. `items` are a record's fields, a variant's cases, or what an option or a result holds."""

    kind: str
    items: tuple[tuple[str, Type | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's type."""

    params: tuple[tuple[str, Type], ...]
    result: Type | None


_STRING = Type("string")
_U32 = Type("u32")
_OPTIONAL_STRING = Type("option", (("some", _STRING),))

SITE = Type(
    "record",
    (("session", _STRING), ("turn", _U32), ("pass", _U32), ("agent", _STRING), ("call-id", _OPTIONAL_STRING)),
)

PAYLOADS: Mapping[Point, Type] = {
    Point.TOOL_BEFORE: Type("record", (("tool", _STRING), ("input", _STRING))),
    Point.TOOL_AFTER: Type("record", (("tool", _STRING), ("input", _STRING), ("outcome", _STRING))),
    Point.CONTEXT_BUILD: Type(
        "record",
        (
            ("sections", _STRING),
            ("recalled", _STRING),
            ("messages", _STRING),
            ("budget-tokens", Type("option", (("some", Type("u64")),))),
        ),
    ),
    Point.MEMORY_RECALL: Type("record", (("query", _STRING), ("entries", _STRING))),
    Point.PROVIDER_BEFORE: Type("record", (("model", _STRING), ("options", _STRING))),
}
_PROCEED, _DENY, _REWRITE, _HANDLED = ("proceed", None), ("deny", _STRING), ("rewrite", _STRING), ("handled", _STRING)
_VERDICTS: Mapping[Point, tuple[tuple[str, Type | None], ...]] = {
    Point.TOOL_BEFORE: (_PROCEED, _DENY, _REWRITE, _HANDLED),
    Point.TOOL_AFTER: (_PROCEED, _DENY, _REWRITE),
    Point.CONTEXT_BUILD: (_PROCEED, _REWRITE),
    Point.MEMORY_RECALL: (_PROCEED, _DENY, _REWRITE),
    Point.PROVIDER_BEFORE: (_PROCEED, _DENY, _REWRITE),
}


def function_name(point: Point) -> str:
    """The name of a point's function."""
    return point.replace(".", "-")


def _result(ok: Type) -> Type:
    return Type("result", (("ok", ok), ("err", _STRING)))


IMPORTS: Mapping[str, Signature] = {
    "write": Signature(
        (
            ("level", Type("enum", tuple((level, None) for level in ("debug", "info", "warn", "error")))),
            ("message", _STRING),
        ),
        None,
    )
}
EXPORTS: Mapping[str, Signature] = {
    "register": Signature((("settings", _STRING),), _result(_STRING)),
    "watch": Signature((("watcher", _STRING), ("settings", _STRING), ("event", _STRING)), None),
    **{
        function_name(point): Signature(
            (("interceptor", _STRING), ("settings", _STRING), ("at", SITE), ("payload", PAYLOADS[point])),
            _result(Type("variant", _VERDICTS[point])),
        )
        for point in Point
    },
}


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a component is no extension. `fix` says what to do."""

    what: str
    fix: str


def compare(component: wc.Component, engine: wasmtime.Engine) -> list[Misfit]:
    """Everything about a component's imports and exports that is not of the world. Empty when it conforms."""
    of = component.type
    misfits: list[Misfit] = []
    for name, extern in of.imports(engine).items():
        if name == LOG:
            misfits += _instance(extern, IMPORTS, engine, f"imports {LOG}", whole=False)
        else:
            misfits.append(_foreign_import(name))
    exported = of.exports(engine)
    if EXTENSION in exported:
        misfits += _instance(exported[EXTENSION], EXPORTS, engine, f"exports {EXTENSION}", whole=True)
    else:
        misfits.append(_no_extension(exported))
    return misfits


def _foreign_import(name: str) -> Misfit:
    shown = cut(clean(name), 200)
    if name.startswith(f"{PACKAGE}/log@"):
        return Misfit(f"imports {shown}; this host offers {LOG}", f"build it against version {VERSION} of the contract")
    fix = f"an extension may import {LOG} and nothing else"
    if name.startswith("wasi:"):
        fix += "; build it for wasm32-unknown-unknown, or with WASI stubbed out"
    return Misfit(f"imports {shown}", fix)


def _no_extension(exported: Mapping[str, Any]) -> Misfit:
    other = next((name for name in exported if name.startswith(f"{PACKAGE}/extension@")), None)
    if other is not None:
        return Misfit(
            f"exports {cut(clean(other), 200)}; this host knows {EXTENSION}",
            f"install a host for that version, or build the extension against {VERSION} of the contract",
        )
    return Misfit(f"does not export {EXTENSION}", "build it with an SDK of Orrery, or against the world in wit/")


def _instance(
    extern: Any, expected: Mapping[str, Signature], engine: wasmtime.Engine, what: str, *, whole: bool
) -> list[Misfit]:
    """The functions of an imported or exported interface. A guest imports as few as it likes, and exports `whole`."""
    fix = f"build it against version {VERSION} of the contract"
    item = extern.ty
    if not isinstance(item, wc.ComponentInstanceType):
        return [Misfit(f"{what}, which is no interface there", fix)]
    found = item.exports(engine)
    misfits = [Misfit(f"{what} without {name}", fix) for name in expected if whole and name not in found]
    for name, one in found.items():
        item = one.ty
        if name in expected:
            if not isinstance(item, wc.FuncType):
                misfits.append(Misfit(f"{what} with {name}, which is no function there", fix))
            elif (wrong := _differs(expected[name], item)) is not None:
                misfits.append(Misfit(f"{what} with another type of {name}: {wrong}", fix))
        elif not whole and not isinstance(item, wc.ValType):
            misfits.append(Misfit(f"{what} with {cut(clean(name), 200)}, which is not there", fix))
    return misfits


def _differs(expected: Signature, function: wc.FuncType) -> str | None:
    if ffi.wasmtime_component_func_type_async(function.ptr()):
        return "is async"
    params = function.params
    if [name for name, _ in params] != [name for name, _ in expected.params]:
        return f"takes ({_names(params)}), not ({_names(expected.params)})"
    for (name, ours), (_, theirs) in zip(expected.params, params, strict=True):
        if not _same(ours, theirs):
            return f"{name} is of another type"
    return None if _same(expected.result, function.result) else "what it returns is of another type"


def _names(named: Any) -> str:
    return cut(clean(", ".join(name for name, _ in named)), 100)


_LEAVES: Mapping[str, type[Any]] = {"string": wc.String, "u32": wc.U32, "u64": wc.U64}


def _same(ours: Type | None, theirs: Any) -> bool:
    """Whether two types are the same. Walks ours, so that a guest's type of any size costs no more."""
    if ours is None or theirs is None:
        return ours is None and theirs is None
    if ours.kind in _LEAVES:
        return isinstance(theirs, _LEAVES[ours.kind])
    if ours.kind == "record":
        return isinstance(theirs, wc.RecordType) and _same_items(ours, theirs.fields)
    if ours.kind == "variant":
        return isinstance(theirs, wc.VariantType) and _same_items(ours, theirs.cases)
    if ours.kind == "enum":
        return isinstance(theirs, wc.EnumType) and theirs.names == [name for name, _ in ours.items]
    if ours.kind == "option":
        return isinstance(theirs, wc.OptionType) and _same(ours.items[0][1], theirs.payload)
    return (
        isinstance(theirs, wc.ResultType) and _same(ours.items[0][1], theirs.ok) and _same(ours.items[1][1], theirs.err)
    )


def _same_items(ours: Type, theirs: list[tuple[str, Any]]) -> bool:
    return len(ours.items) == len(theirs) and all(
        name == other and _same(mine, its) for (name, mine), (other, its) in zip(ours.items, theirs, strict=True)
    )
