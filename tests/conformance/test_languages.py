"""One suite for every SDK: the same extension in each language, the same table of what it must come to."""

from __future__ import annotations

import hashlib
import logging
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import CODE, ROOT, write_manifest
from guests.build import BUILD, component
from orrery_interceptors import Config, FailureKind, Runtime, Site
from orrery_interceptors.config import Layer
from orrery_interceptors.registry import Declared, load_registry
from orrery_interceptors.sandbox import CodeCache, CompileLimits, Sandbox
from orrery_interceptors.toolchain.languages import build

HERE = Path(__file__).resolve().parent / "languages"
LANGUAGES = ("rust", "ts", "python")
SCOPES = '"tool.before", "tool.after", "context.build", "memory.recall", "provider.before"'
BIG = 9007199254740993
CONFIG = Config.model_validate({"deadlines": {"gateMs": 5000, "rewriteMs": 5000, "registerMs": 10_000}})
CONFIG = CONFIG.model_copy(update={"limits": CONFIG.limits.model_copy(update={"interceptors_per_phase": 64})})


def call(tool: str, value: Any = None) -> dict[str, Any]:
    return {"tool": tool, "input": value if value is not None else {"n": BIG, "f": 0.1, "s": "é漢🚀\u0000"}}


def after(tool: str) -> dict[str, Any]:
    return {**call(tool), "outcome": {"t": "ok", "value": "old", "exit": BIG}}


CONTEXT = {"sections": [{"id": "s", "text": "x"}], "recalled": [], "messages": [{"role": "user", "content": BIG}]}
RECALL = {"query": "q", "entries": [{"id": BIG, "text": "1"}, {"id": "b", "text": "2", "meta": {"n": BIG}}]}
DEEP: Any = 1
for _ in range(126):
    DEEP = [DEEP]

# name: point, payload, decision, what is said, and the payload that goes on (None: as it was).
CASES: dict[str, tuple[str, dict[str, Any], str, str, dict[str, Any] | None]] = {
    "proceed": ("tool.before", call("proceed"), "proceed", "", None),
    "no match": ("tool.before", call("nobody's"), "proceed", "", None),
    "deny": ("tool.before", call("deny"), "deny", "deny (tool.before, extension conformance): because é漢🚀", None),
    "settings": ("tool.before", call("settings"), "deny", "): a word", None),
    "error": ("tool.before", call("error"), "deny", "answered with an error: it failed", None),
    "log": ("tool.before", call("log"), "proceed", "", None),
    "set": ("tool.before", call("set"), "proceed", "", {**call("set"), "input": {**call("set")["input"], "x": 1}}),
    "numbers that were not touched": ("tool.before", call("same"), "proceed", "", None),
    "a huge input": ("tool.before", call("same", {"s": "x" * 300_000, "n": BIG}), "proceed", "", None),
    "an empty input": ("tool.before", call("same", {}), "proceed", "", None),
    "a deep input": ("tool.before", call("proceed", DEEP), "proceed", "", None),
    "handled": (
        "tool.before",
        call("handle"),
        "handled",
        "",
        {**call("handle"), "outcome": {"t": "ok", "value": {"canned": True}}},
    ),
    "after": ("tool.after", after("after"), "deny", "): withheld", None),
    "outcome": (
        "tool.after",
        after("outcome"),
        "proceed",
        "",
        {**after("outcome"), "outcome": {"t": "ok", "value": "changed", "exit": BIG}},
    ),
    "a rewrite-only that fails": ("tool.before", call("quiet"), "proceed", "", None),
    "context": (
        "context.build",
        CONTEXT,
        "proceed",
        "",
        {**CONTEXT, "sections": [{"id": "s", "text": "new"}, {"id": "added", "text": "more"}]},
    ),
    "recall": ("memory.recall", RECALL, "proceed", "", {**RECALL, "entries": RECALL["entries"][::-1]}),
    "options": (
        "provider.before",
        {"model": "m", "options": {"seed": BIG}},
        "proceed",
        "",
        {"model": "m", "options": {"seed": BIG, "temperature": 0}},
    ),
    "async": ("tool.before", call("async"), "deny", "): async at sess/2/3/c-1", None),
    "refused by rule": (
        "tool.before",
        call("ruled"),
        "deny",
        "rule (tool.before, extension conformance): by rule",
        None,
    ),
    "filled by rule": ("tool.before", call("filled", {}), "proceed", "", call("filled", {"timeout": 5})),
}
FAILURES = {"error": FailureKind.GUEST_ERROR, "a rewrite-only that fails": FailureKind.GUEST_ERROR}
RAN: dict[str, set[str]] = {language: set() for language in LANGUAGES}


def built(language: str) -> Path:
    """The component of a language, from the cache or built now."""
    if language == "rust":
        return component(HERE / "rust")
    sources = [*sorted((HERE / language).glob("*")), *sorted((ROOT / "guest-sdk").rglob("*.ts"))]
    sources += sorted((ROOT / "guest-sdk" / "python").rglob("*.py"))
    digest = hashlib.sha256()
    for path in sources:
        if path.is_file() and "node_modules" not in path.parts:
            digest.update(path.read_bytes())
    target = BUILD / f"conformance-{language}-{digest.hexdigest()[:16]}.wasm"
    if not target.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        build(HERE / language, target)
    return target


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(language: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(language)
    write_manifest(folder, "conformance", f"intercept = [{SCOPES}]\nwatch = [{SCOPES}]", component="guest.wasm")
    shutil.copy(built(language), folder / "guest.wasm")
    return folder


def runtime_of(folder: Path, **settings: Any) -> Runtime:
    sandbox = Sandbox(cache=CodeCache(CODE / "languages"), compiling=CompileLimits(120, 4096))
    declared = Declared(folder, Layer.PROJECT, {"word": "a word", **settings}, trusted=True)
    return Runtime(load_registry([declared], CONFIG, sandbox), sandbox, config=CONFIG)


@pytest.fixture(scope="module")
def runtime(folder: Path) -> Iterator[Runtime]:
    with runtime_of(folder) as runtime:
        assert not runtime.problems
        yield runtime


@pytest.mark.parametrize("name", CASES)
def test_case(runtime: Runtime, language: str, name: str) -> None:
    point, payload, decision, said, goes_on = CASES[name]
    made = runtime.decide(point, payload, Site("sess", 2, 3, "main", "c-1"))
    assert made.decision == decision
    assert said in (made.reason or "")
    if not (made.denied and point == "tool.after"):
        assert made.payload == (goes_on if goes_on is not None else payload)
    failures = [entry.failure for entry in made.trail if entry.failure]
    assert failures == ([FAILURES[name]] if name in FAILURES else [])
    RAN[language].add(name)


def test_log_lines_arrive(runtime: Runtime) -> None:
    (entry,) = runtime.decide("tool.before", call("log")).trail
    assert entry.logged == (("warn", "a line"),)


def test_a_watcher_is_told(runtime: Runtime, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="orrery_interceptors")
    runtime.decide("tool.before", call("watched"))
    assert runtime.drain()
    assert "conformance: saw proceed" in caplog.text


def test_settings_that_are_wrong_are_a_load_problem(folder: Path) -> None:
    with runtime_of(folder, wrong=True) as runtime:
        assert "the settings are wrong" in str(runtime.problems[0])


def test_nothing_is_there_from_one_call_to_the_next(runtime: Runtime) -> None:
    costs = {runtime.decide("tool.before", call("proceed")).trail[0].fuel for _ in range(4)}
    assert len(costs) == 1


def test_no_language_missed_a_case(language: str) -> None:
    """Runs last of the language's tests: a case that was skipped or lost is seen."""
    assert RAN[language] == set(CASES)


def test_answers_that_a_point_does_not_allow_do_not_compile() -> None:
    tsc = ROOT / "guest-sdk" / "typescript" / "node_modules" / "typescript" / "bin" / "tsc"
    done = subprocess.run(["node", str(tsc), "--noEmit", "-p", str(HERE / "ts")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_sdks_have_the_same_contract() -> None:
    text = (ROOT / "wit" / "interceptors.wit").read_text()
    for sdk in ("rust", "typescript", "python"):
        assert (ROOT / "guest-sdk" / sdk / "wit" / "interceptors.wit").read_text() == text
