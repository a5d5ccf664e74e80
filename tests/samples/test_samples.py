"""The samples, as a stranger would hold them: the committed components, their cases, and the same built from source."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import CODE, ROOT
from guests.build import BUILD, component, toolchain
from orrery_interceptors import Config, Runtime
from orrery_interceptors.cases import Case, CaseRunner, read_cases
from orrery_interceptors.digests import file_digest
from orrery_interceptors.sandbox import CodeCache, CompileLimits, Sandbox
from orrery_interceptors.toolchain.component import check_component
from orrery_interceptors.toolchain.languages import build

SAMPLES = ROOT / "samples"
ALL = sorted(path.parent for path in SAMPLES.glob("*/orrery.toml"))
# Those in TypeScript and Python are built, not committed.
BUILT = [folder for folder in ALL if folder.name.endswith(("-ts", "-py"))]
FOLDERS = [folder for folder in ALL if folder not in BUILT]
RUST = [folder for folder in FOLDERS if (folder / "Cargo.toml").exists()]
CORPUS = Path(os.environ.get("ORRERY_CORPUS", ROOT.parent / "shared" / "corpus"))
RECORD = tomllib.loads((SAMPLES / "TOOLCHAIN.toml").read_text())


def built(folder: Path) -> Path:
    return folder / f"{folder.name.replace('-', '_')}.wasm"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(cache=CodeCache(CODE / "samples"), compiling=CompileLimits(60, 2048))
    yield sandbox
    sandbox.close()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_cases(folder: Path, sandbox: Sandbox) -> None:
    runner = CaseRunner(folder, sandbox)
    cases = read_cases(folder / "cases.toml")
    assert len(cases) >= 12
    wrong = [(case.name, result.wrong) for case in cases if not (result := runner.run(case)).passed]
    assert not wrong


@pytest.mark.parametrize("folder", RUST, ids=lambda folder: folder.name)
def test_the_component_conforms_and_is_the_recorded_one(folder: Path) -> None:
    check_component(built(folder), ROOT / "wit", folder.name)
    assert RECORD["components"][folder.name] == file_digest(built(folder))


@pytest.mark.parametrize("folder", RUST, ids=lambda folder: folder.name)
def test_the_component_is_what_its_source_makes(folder: Path, sandbox: Sandbox, tmp_path: Path) -> None:
    made = component(folder)
    if toolchain().description == RECORD["toolchain"]:
        assert made.read_bytes() == built(folder).read_bytes(), "build the sample again: python samples/rebuild.py"
        return
    # Another toolchain makes other bytes, which must decide the same.
    copy = tmp_path / folder.name
    copy.mkdir()
    for name in ("orrery.toml", "cases.toml"):
        shutil.copy(folder / name, copy)
    shutil.copy(made, copy / built(folder).name)
    runner = CaseRunner(copy, sandbox)
    assert all(runner.run(case).passed for case in read_cases(folder / "cases.toml"))


@pytest.mark.parametrize("folder", BUILT, ids=lambda folder: folder.name)
def test_cases_of_samples_that_are_built(folder: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    sources = b"".join(path.read_bytes() for path in sorted(folder.glob("extension.*")))
    kept = BUILD / f"{folder.name}-{hashlib.sha256(sources).hexdigest()[:16]}.wasm"
    if not kept.exists():
        build(folder, kept)
    shutil.copy(kept, copy / built(folder).name)
    runner = CaseRunner(copy, sandbox, Config.model_validate({"deadlines": {"gateMs": 5000, "rewriteMs": 5000}}))
    cases = read_cases(folder / "cases.toml")
    assert len(cases) >= 3
    wrong = [(case.name, result.wrong) for case in cases if not (result := runner.run(case)).passed]
    assert not wrong


@pytest.mark.parametrize("folder", ALL, ids=lambda folder: folder.name)
def test_the_readme_names_every_setting(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    settings = tomllib.loads((folder / "orrery.toml").read_text()).get("settings", {})
    assert not [name for name in settings if f"`{name}`" not in text]


def test_a_case_can_fail(sandbox: Sandbox) -> None:
    folder = SAMPLES / "no-force-push"
    runner = CaseRunner(folder, sandbox)
    call = {"tool": "builtin.bash", "input": {"command": "git push -f"}}
    case = Case.model_validate(
        {
            "name": "wrong in every way",
            "point": "tool.before",
            "payload": call,
            "decision": "proceed",
            "changed": True,
            "reason": "nothing of the kind",
            "kind": "rule",
            "payload_after": {"tool": "x", "input": {}},
            "patch_json": "[1]",
            "fuel": 1,
        }
    )
    said = [what.partition(":")[0] for what in runner.run(case).wrong]
    assert said == ["decision", "changed", "reason", "kind", "payload_after", "patch", "fuel"]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here; the cases above hold what matters of it")
def test_no_force_push_on_labelled_commands() -> None:
    rows = [json.loads(line) for line in (CORPUS / "commands.jsonl").read_text().splitlines()]
    rows = [row for row in rows if row["policy"] == "git-force-push" and row["difficulty"] <= 2]
    wrong = []
    with Runtime.open(extensions=[SAMPLES / "no-force-push"], cache=CODE / "samples") as runtime:
        for row in rows:
            call = {"tool": "builtin.bash", "input": {"command": row["command"]}}
            said = "deny" if runtime.decide("tool.before", call).denied else "allow"
            if row["label"] not in (said, "either"):
                wrong.append((row["label"], row["command"]))
    assert len(rows) > 100 and not wrong


def test_nothing_in_the_samples_looks_like_a_token() -> None:
    shapes = re.compile(r"gh[pousr]_[A-Za-z0-9]{36}|AKIA[A-Z0-9]{16}|sk_live_[A-Za-z0-9]{24}|xoxb-[0-9]{10}")
    for path in SAMPLES.rglob("*.toml"):
        assert not shapes.search(path.read_text(encoding="utf-8")), path
