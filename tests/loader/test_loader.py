"""The loader takes anything: each file loads or is refused with a line that says what is wrong.

The small cases that matter are here; where the corpus is, every twelfth of its files is tried too, and all of them by
`ORRERY_ALL_FILES=1 pytest tests/loader`.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import CODE, ROOT, write_manifest
from hostile.build import component
from orrery_interceptors import Config
from orrery_interceptors.registry import Declared, NotLoaded
from orrery_interceptors.registry.loading import load_extension
from orrery_interceptors.sandbox import Bounds, CodeCache, CompileLimits, ComponentError, Sandbox, text_to_binary

CORPUS = Path(os.environ.get("ORRERY_CORPUS", ROOT.parent / "shared" / "corpus")) / "wasm"
BOUNDS = Bounds(10**9, 64, 1024, 8192, 16, 64)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(cache=CodeCache(CODE / "loader"), compiling=CompileLimits(20, 1024))
    yield sandbox
    sandbox.close()


TEXTS = {
    "nothing": ("(component)", "does not export orrery:interceptors/extension@1.0.0"),
    "one export": ('(component (core module (;0;)) (export "x" (core module 0)))', "does not export"),
    "a clock": (
        '(component (import "wasi:clocks/wall-clock@0.2.0" (instance (export "now" (func (result u64))))))',
        "imports wasi:clocks/wall-clock@0.2.0",
    ),
    "a module": ('(component (import "m" (core module)))', "imports m"),
    "a stream": ('(component (import "f" (func (param "s" (stream u8)))))', "is not a valid component"),
    "an async function": ('(component (import "f" (func async)))', "is not a valid component"),
    "a resource": ('(component (import "r" (type (sub resource))))', "imports r"),
    "another version of log": (
        '(component (import "orrery:interceptors/log@2.0.0" (instance)))',
        "this host offers orrery:interceptors/log@1.0.0",
    ),
    "a value in place of the extension": (
        '(component (core module $m) (export "orrery:interceptors/extension@1.0.0" (core module $m)))',
        "which is no interface there",
    ),
    "an empty extension": (
        '(component (instance $i) (export "orrery:interceptors/extension@1.0.0" (instance $i)))',
        "without register",
    ),
    "another version of the extension": (
        '(component (instance $i) (export "orrery:interceptors/extension@9.0.0" (instance $i)))',
        "this host knows orrery:interceptors/extension@1.0.0",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_components_that_are_no_extensions(sandbox: Sandbox, name: str) -> None:
    text, what = TEXTS[name]
    with pytest.raises(ComponentError, match=what) as caught:
        sandbox.load(text_to_binary(text), BOUNDS)
    assert "\n" not in str(caught.value) and caught.value.fix


def test_a_refusal_names_the_file_and_the_fix(sandbox: Sandbox, tmp_path: Path) -> None:
    write_manifest(tmp_path / "x", "x", "", component="guest.wasm")
    (tmp_path / "x" / "guest.wasm").write_bytes(b"\0asm\1\0\0\0")
    result = load_extension(Declared.by_path(tmp_path / "x"), Config(), sandbox).result
    assert isinstance(result, NotLoaded)
    (problem,) = result.problems
    assert str(problem.file).endswith("guest.wasm") and "wasm-tools component new" in str(problem.fix)


def refused(sandbox: Sandbox, data: bytes) -> str:
    """How a file is refused; empty when it is an extension."""
    try:
        sandbox.load(data, BOUNDS)
    except ComponentError as error:
        assert str(error) and "\n" not in str(error) and str(error).isprintable()
        return str(error)
    return ""


def test_mutations_of_a_component_load_or_are_refused(sandbox: Sandbox) -> None:
    """Flipped bytes, cut ends, swapped sections; what still loads is called and gives an answer or a failure."""
    from orrery_interceptors.points import Point, Site

    chance = random.Random(7)
    original = component("keep-state")
    mutated: list[bytes] = []
    for _ in range(24):
        data = bytearray(original)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(8, len(data))] ^= 1 << chance.randrange(8)
        mutated.append(bytes(data))
    mutated += [original[: chance.randrange(8, len(original))] for _ in range(6)]
    for _ in range(4):
        one, other = sorted(chance.sample(range(8, len(original)), 2))
        mutated.append(original[:one] + original[other:] + original[one:other])
    uncached = Sandbox(cache=None, compiling=CompileLimits(20, 1024))

    def take(data: bytes) -> None:
        try:
            guest = uncached.load(data, BOUNDS).guest
        except ComponentError:
            return
        assert guest.register(b"{}", 1000).outcome is not None
        assert guest.ask(Point.TOOL_BEFORE, b"x", b"{}", Site(), (b"t", b"{}"), 3, 1000).outcome is not None

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(take, mutated))
    uncached.close()


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here; the cases above hold what matters of it")
def test_files_of_the_corpus(sandbox: Sandbox) -> None:
    rows = [json.loads(line) for line in (CORPUS / "manifest.jsonl").read_text().splitlines()]
    if not os.environ.get("ORRERY_ALL_FILES"):
        rows = rows[::12]

    def take(row: dict[str, str]) -> tuple[str, str]:
        return row["file"], refused(sandbox, (CORPUS / row["file"]).read_bytes())

    with ThreadPoolExecutor(4) as pool:
        said = dict(pool.map(take, rows))
    assert len(said) == len(rows)
    assert not [file for file, what in said.items() if not what]
    for file, what in said.items():
        if file.startswith("core_not_component"):
            assert "is a core WebAssembly module" in what or "is not" in what or "is cut" in what, (file, what)
