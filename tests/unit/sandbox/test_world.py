"""The world in Python is the world in WIT, and every component is held against it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from orrery_interceptors.sandbox import Bounds, CompileLimits, ComponentError, Sandbox, capi
from orrery_interceptors.sandbox.world import EXPORTS, EXTENSION, IMPORTS, LOG, Signature, Type
from orrery_interceptors.toolchain.component import find_wasm_tools

BOUNDS = Bounds(10**9, 64, 1024, 8192, 16, 64)


def resolved() -> dict[str, Any]:
    command = [str(find_wasm_tools()), "component", "wit", str(ROOT / "wit"), "--json"]
    return dict(json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout))


def as_type(wit: dict[str, Any], of: Any) -> Type | None:
    if of is None:
        return None
    if isinstance(of, str):
        return Type(of)
    kind = wit["types"][of]["kind"]
    if "type" in kind:
        return as_type(wit, kind["type"])
    if "record" in kind:
        return Type("record", tuple((field["name"], as_type(wit, field["type"])) for field in kind["record"]["fields"]))
    if "variant" in kind:
        return Type("variant", tuple((case["name"], as_type(wit, case["type"])) for case in kind["variant"]["cases"]))
    if "enum" in kind:
        return Type("enum", tuple((case["name"], None) for case in kind["enum"]["cases"]))
    if "option" in kind:
        return Type("option", (("some", as_type(wit, kind["option"])),))
    return Type("result", tuple((side, as_type(wit, kind["result"][side])) for side in ("ok", "err")))


def signatures(wit: dict[str, Any], interface: str) -> dict[str, Signature]:
    found = next(one for one in wit["interfaces"] if one["name"] == interface)
    return {
        name: Signature(
            tuple((param["name"], as_type(wit, param["type"])) for param in function["params"]),  # type: ignore[misc]
            as_type(wit, function.get("result")),
        )
        for name, function in found["functions"].items()
    }


def test_the_world_is_the_one_in_wit() -> None:
    wit = resolved()
    assert signatures(wit, "extension") == dict(EXPORTS)
    assert signatures(wit, "log") == dict(IMPORTS)
    package = wit["packages"][0]["name"]
    assert package.replace("@", "/extension@") == EXTENSION and package.replace("@", "/log@") == LOG


def test_the_sdk_has_the_same_contract() -> None:
    text = (ROOT / "wit" / "interceptors.wit").read_text()
    assert (ROOT / "guest-sdk" / "rust" / "wit" / "interceptors.wit").read_text() == text


def test_the_structures_are_as_known_here() -> None:
    assert capi.layout_problem() is None


def dummy(tmp_path: Path, change: Any = lambda text: text) -> bytes:
    """A component that conforms to a contract, every function of which is unreachable."""
    wit = tmp_path / "wit"
    wit.mkdir()
    (wit / "i.wit").write_text(change((ROOT / "wit" / "interceptors.wit").read_text()))
    tools = str(find_wasm_tools())
    core, made = tmp_path / "core.wasm", tmp_path / "made.wasm"
    for command in (
        [tools, "component", "embed", str(wit), "-w", "orrery-extension", "--dummy", "-o", str(core)],
        [tools, "component", "new", str(core), "-o", str(made)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return made.read_bytes()


@pytest.fixture(scope="module")
def sandbox() -> Any:
    sandbox = Sandbox(cache=None, compiling=CompileLimits(60, 2048))
    yield sandbox
    sandbox.close()


def test_a_conforming_component_is_loaded(tmp_path: Path, sandbox: Sandbox) -> None:
    assert sandbox.load(dummy(tmp_path), BOUNDS).logs


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("@1.0.0", "@2.0.0", "this host offers orrery:interceptors/log@1.0.0"),
        (
            "proceed,\n        /// Edits",
            "proceed,\n        deny(string),\n        /// Edits",
            "another type of context-build",
        ),
        ("turn: u32", "turn: u64", "at is of another type"),
        ("call-id: option<string>", "call-id: string", "at is of another type"),
        ("watcher: string,", "", "takes"),
        (
            "register: func(settings: json) -> result<json, string>",
            "register: func(settings: json) -> json",
            "register",
        ),
        ("watch: func", "look: func", "without watch"),
        ("write: func(level: level, message: string)", "write: func(level: level, message: list<u8>)", "message is of"),
        ("enum level {\n        debug,", "enum level {\n        trace,\n        debug,", "level is of another type"),
        ("import log;", "import log;\n    import clock: func() -> u64;", "imports clock"),
        ("import log;", "import log;\n    import feed: func(s: list<string>);", "imports feed"),
    ],
)
def test_what_differs_is_named(tmp_path: Path, sandbox: Sandbox, old: str, new: str, what: str) -> None:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    with pytest.raises(ComponentError, match=what):
        sandbox.load(dummy(tmp_path, change), BOUNDS)


def test_a_stream_in_an_import_does_not_end_the_process(tmp_path: Path, sandbox: Sandbox) -> None:
    def change(text: str) -> str:
        return text.replace("import log;", "import log;\n    import feed: func(s: stream<u8>);")

    with pytest.raises(ComponentError):
        sandbox.load(dummy(tmp_path, change), BOUNDS)
