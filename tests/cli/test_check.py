"""`orrery check`, as someone would use it and misuse it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

SAMPLE = ROOT / "samples" / "no-force-push"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".orrery").mkdir()
    return tmp_path


def call(command: str) -> dict[str, Any]:
    return {"tool": "builtin.bash", "input": {"command": command}}


def test_one_payload(orrery: Any, project: Path) -> None:
    arguments = ("check", "tool.before", "--project", project, "--ext", SAMPLE)
    denied = orrery(*arguments, "--json", input=json.dumps(call("git push -f")))
    decision = json.loads(denied.stdout)
    assert denied.exit_code == 4 and len(denied.stdout.splitlines()) == 1
    assert set(decision) == {"point", "decision", "changed", "payload", "reason", "by", "trail"}
    assert decision["by"] == {"extension": "no-force-push", "interceptor": "no-force-push", "kind": "gate"}
    fine = orrery(*arguments, input=json.dumps(call("ls")))
    assert fine.exit_code == 0 and json.loads(fine.stdout)["decision"] == "proceed"
    audit = orrery("audit", "verify", project / ".orrery" / "audit.jsonl")
    assert audit.exit_code == 0 and "2 records" in audit.stdout


def test_many_in_order_with_a_line_for_each(orrery: Any, project: Path) -> None:
    lines = [json.dumps(call("git push -f")), "{", "", json.dumps(call("ls")), '{"tool": 5}', '{"tool":"t","tool":"u"}']
    done = orrery("check", "tool.before", "--project", project, "--ext", SAMPLE, "--jsonl", input="\n".join(lines))
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one.get("decision") or "error" for one in said] == ["deny", "error", "proceed", "error", "error"]
    assert done.exit_code == 2
    assert "standard input:2" in done.stderr and "standard input:5 [/tool]" in done.stderr


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "empty"),
        (b"[]", "must be an object"),
        (b'{"tool": "t"}', "[/input]: is missing"),
        (b'{"tool": "t", "input": 1, "more": 2}', "[/more]: is not a field"),
        (b'{"tool": "t", "input": NaN}', "NaN is not JSON"),
        (b'{"tool": "t", "input": "\\ud800"}', "lone surrogate"),
        (b'{"tool": "t", "input": 1e999}', "larger than a double"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"tool":"t","input":' + b"[" * 10_000 + b"]" * 10_000 + b"}", "nested deeper"),
    ],
)
def test_wrong_input_is_one_clear_error(orrery: Any, project: Path, data: bytes, what: str) -> None:
    done = orrery("check", "tool.before", "--project", project, input=data)
    assert done.exit_code == 2 and not done.stdout
    assert done.stderr.startswith("error: standard input") and what in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_depth_that_is_allowed(orrery: Any, project: Path) -> None:
    deep = b'{"tool":"builtin.bash","input":' + b"[" * 127 + b"]" * 127 + b"}"
    done = orrery("check", "tool.before", "--project", project, "--ext", SAMPLE, "--json", input=deep)
    assert done.exit_code == 0


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda folder: None, "there is no such file"),
        (lambda folder: (folder / "orrery.toml").write_text("x"), "orrery.toml"),
        (lambda folder: (folder / "orrery.toml").write_bytes(b"\xff"), "UTF-8"),
        (
            lambda folder: (folder / "orrery.toml").write_text((SAMPLE / "orrery.toml").read_text()),
            "there is no file no_force_push.wasm",
        ),
        (
            lambda folder: (
                (folder / "orrery.toml").write_text((SAMPLE / "orrery.toml").read_text()),
                (folder / "no_force_push.wasm").write_bytes(b"\0asm\x01\0\0\0"),
            ),
            "is a core WebAssembly module, not a component",
        ),
    ],
)
def test_an_extension_that_cannot_be_loaded(orrery: Any, project: Path, tmp_path: Path, make: Any, what: str) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    make(folder)
    done = orrery("check", "tool.before", "--project", project, "--ext", folder, input="{}")
    assert done.exit_code == 2 and what in done.stderr and str(folder) in done.stderr


def test_help_has_examples(orrery: Any) -> None:
    for command in ("run", "check"):
        assert "Examples:" in orrery(command, "--help").stdout
