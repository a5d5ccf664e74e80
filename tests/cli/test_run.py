"""`orrery run`: the main job, and what may go wrong with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from orrery_interceptors.audit import read_records, verify

DEMO = ROOT / "samples" / "sessions" / "demo.jsonl"
NAMES = [path.parent.name for path in ROOT.glob("samples/*/Cargo.toml") if (path.parent / "orrery.toml").exists()]
EXTENSIONS = [word for name in NAMES for word in ("--ext", str(ROOT / "samples" / name))]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".orrery").mkdir()
    (tmp_path / ".orrery" / "config.toml").write_text('[policy]\ndeny = ["deploy.rollback"]\n')
    return tmp_path


def test_the_demo_shows_every_kind_of_answer(orrery: Any, project: Path) -> None:
    done = orrery("run", DEMO, "--project", project, *EXTENSIONS)
    assert done.exit_code == 4
    assert set(done.stderr.splitlines()) == {"info: memory-guard: 1 of 3 entries dropped"}
    for part in (
        "denied: no-force-push (tool.before, extension no-force-push)",
        "denied: confine-writes",
        "denied by policy",
        "handled by canned-answers",
        "changed by redact-tokens",
        "changed by rule (extension confine-writes)",
        "changed by memory-guard",
        "changed by house-rules",
        "changed by model-limits",
        '+ /input/path: "src/plan.md"',
        "20 calls",
    ):
        assert part in done.stdout
    assert "A1b2C3d4" not in done.stdout and "hunter2" not in done.stdout
    assert "9007199254740993" in done.stdout and "\x1b" not in done.stdout


def test_events_and_the_audit_agree(orrery: Any, project: Path) -> None:
    done = orrery("run", DEMO, "--project", project, *EXTENSIONS, "--json", "--session", "mine")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    decisions = [event for event in events if event["t"] == "decision"]
    audit = project / ".orrery" / "audit.jsonl"
    assert verify(audit).records == len(decisions)
    records = list(read_records(audit))
    assert [(r["point"], r["decision"]) for r in records] == [(d["point"], d["decision"]) for d in decisions]
    assert {record["site"]["session"] for record in records} == {"mine"}
    summary = events[-1]
    assert (summary["t"], summary["calls"], summary["handled"]) == ("summary", 20, 1)
    assert summary["denied"] == sum(d["decision"] == "deny" for d in decisions)
    points = {decision["point"] for decision in decisions}
    assert points == {"tool.before", "tool.after", "context.build", "memory.recall", "provider.before"}
    told = orrery("audit", "show", audit, "--denied", "--json").stdout.splitlines()
    assert len(told) == summary["denied"]


def session(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in ({"t": "session", "v": 1}, *lines)))
    return path


def answer(*calls: dict[str, Any]) -> dict[str, Any]:
    made = [{"id": f"c{index}", **call} for index, call in enumerate(calls)]
    return {"t": "assistant", "text": "", "calls": made}


@pytest.mark.parametrize(("key", "value"), [("calls", 1), ("passes", 1)])
def test_a_budget_stops_it(orrery: Any, project: Path, tmp_path: Path, key: str, value: int) -> None:
    (project / ".orrery" / "config.toml").write_text(f"[budget]\n{key} = {value}\n")
    calls = [{"tool": "builtin.glob", "input": {"pattern": "*"}}] * 3
    path = session(tmp_path / "s.jsonl", {"t": "user", "text": "go"}, answer(*calls), {"t": "assistant", "text": "x"})
    done = orrery("run", path, "--project", project)
    assert done.exit_code == 3 and f"(budget.{key})" in done.stdout


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", ":1: is empty"),
        (b"\xff", ":1: not UTF-8"),
        (b'{"t":"session","v":2}', "[v]"),
        (b'{"t":"session","v":1}\n{"t":"usr","text":"x"}', ":2 [t]: is not a kind of line"),
        (b'{"t":"session","v":1}\n{"t":"user","text":NaN}', ":2: NaN is not JSON"),
        (b'{"t":"session","v":1}\n{"t":"user","text":"a","text":"b"}', "stands twice"),
        (b'{"t":"session","v":1}\n{"t":"user","text":"\\ud800"}', "lone surrogate"),
        (b'{"t":"session","v":1}\n{"t":"user","text":' + b"[" * 10_000 + b"]" * 10_000 + b"}", "nested deeper"),
    ],
)
def test_a_wrong_session_is_one_clear_error(orrery: Any, project: Path, tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(data)
    done = orrery("run", path, "--project", project)
    assert done.exit_code == 2 and what in done.stderr and str(path) in done.stderr and not done.stdout
    assert not (project / ".orrery" / "audit.jsonl").exists()


def test_a_session_that_is_too_large_is_not_read(orrery: Any, project: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    done = orrery("run", path, "--project", project)
    assert done.exit_code == 2 and "larger than 64 MiB" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_a_valid_audit(project: Path, tmp_path: Path, number: signal.Signals) -> None:
    path = session(
        tmp_path / "s.jsonl",
        {"t": "user", "text": "go"},
        answer({"tool": "builtin.bash", "input": {"command": "echo $$; sleep 60", "timeout": 60_000}}),
    )
    command = [sys.executable, "-m", "orrery_interceptors", "run", str(path), "--project", str(project), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "runtime"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            if json.loads(line).get("point") == "tool.before":
                break
        process.send_signal(number)
        status = process.wait(20)
        said = process.stderr.read()
    assert status == (130 if number is signal.SIGINT else 143)
    assert "Traceback" not in said
    found = verify(project / ".orrery" / "audit.jsonl")
    assert found.intact and found.records >= 4


def test_a_conversation_becomes_a_session(orrery: Any, project: Path, tmp_path: Path) -> None:
    chat = tmp_path / "chat.json"
    made = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": '{"command": "git push -f"}'}}
    messages = [
        {"role": "user", "content": "push"},
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "a", "content": "done"},
        {"role": "assistant", "content": "pushed"},
    ]
    chat.write_text(json.dumps({"model": "m", "messages": messages}))
    output = tmp_path / "s.jsonl"
    assert orrery("session", "from-openai", chat, "-o", output).exit_code == 0
    assert "1 turns, 1 calls, 1 recorded" in orrery("session", "check", output).stdout
    done = orrery("run", output, "--project", project, "--json")
    calls = [json.loads(line) for line in done.stdout.splitlines() if '"t":"call"' in line]
    assert [(call["tool"], call["how"]) for call in calls] == [("bash", "recorded")]


def test_a_provider_that_is_not_there_is_said(orrery: Any, project: Path, tmp_path: Path) -> None:
    (project / ".orrery" / "config.toml").write_text(
        '[provider]\nkind = "openai"\nbaseUrl = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
    )
    path = session(tmp_path / "s.jsonl", {"t": "user", "text": "go"})
    done = orrery("run", path, "--project", project)
    assert done.exit_code == 1 and "127.0.0.1:9" in done.stderr and "Traceback" not in done.stderr
