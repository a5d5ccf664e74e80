"""The audit: whole, chained, and never silently short of a record."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from orrery_interceptors.audit import AuditWriter, read_records, verify
from orrery_interceptors.decisions import Decision, TrailEntry
from orrery_interceptors.errors import AuditError
from orrery_interceptors.points import Point, Site

OLD = Path(__file__).with_name("data") / "audit-v1.jsonl"


def decision(reason: str | None = None, patch: Any = None) -> Decision:
    trail = (TrailEntry("e", "x", "gate", "deny" if reason else "proceed", None, reason, patch),)
    return Decision(Point.TOOL_BEFORE, "deny" if reason else "proceed", False, {"tool": "t"}, reason, None, trail)


def write(path: Path, count: int = 3, **options: Any) -> None:
    writer = AuditWriter(path, **options)
    for index in range(count):
        writer.record(decision(f"no {index}"), {"tool": "t", "input": index}, Site("s"))
    writer.close()


def test_records_are_whole_numbered_and_chained(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path)
    write(path, 2, sync="decision")
    found = verify(path)
    assert (found.records, found.torn, found.intact) == (5, 0, True)
    records = list(read_records(path))
    assert [record["n"] for record in records] == [1, 2, 3, 4, 5]
    assert records[0]["reason"] == "no 0" and records[0]["site"]["session"] == "s"
    assert records[0]["payload"].startswith("sha256:") and records[0]["payload"] != records[1]["payload"]
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("sync", ["batch", "decision"])
def test_threads_and_writers_make_one_chain(tmp_path: Path, sync: Any) -> None:
    path = tmp_path / "a.jsonl"
    writers = [AuditWriter(path, sync) for _ in range(2)]

    def work(writer: AuditWriter) -> None:
        for index in range(50):
            writer.record(decision(), {"tool": "t", "input": index}, Site("s"))

    threads = [threading.Thread(target=work, args=(writer,)) for writer in writers for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for writer in writers:
        writer.close()
    found = verify(path)
    assert found.intact and found.records == 200


def change_a_reason(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b"no 1", b"ok 1"), *lines[2:]]


@pytest.mark.parametrize(
    "tamper",
    [
        change_a_reason,
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: [*lines[:2], lines[1], *lines[2:]],
        lambda lines: [lines[0], b'{"v":1}\n', *lines[1:]],
        lambda lines: lines[1:],
        lambda lines: [lines[0], b"not json\n", *lines[1:]],
    ],
)
def test_what_was_changed_is_found(tmp_path: Path, tamper: Any) -> None:
    path = tmp_path / "a.jsonl"
    write(path)
    path.write_bytes(b"".join(tamper(path.read_bytes().splitlines(keepends=True))))
    assert not verify(path).intact


@pytest.mark.parametrize("cut", [1, 2, 40, 200])
def test_a_torn_last_line_is_recognised_and_writing_goes_on(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.jsonl"
    write(path)
    path.write_bytes(path.read_bytes()[:-cut])
    found = verify(path)
    assert found.intact and found.records == (3 if cut == 1 else 2) and bool(found.torn) == (cut > 1)
    assert len(list(read_records(path))) == found.records
    write(path, 2)
    after = verify(path)
    assert after.intact and after.recovered == (cut > 1)
    assert [record["type"] for record in read_records(path)].count("decision") == found.records + 2


def test_a_process_that_is_killed_loses_at_most_what_it_was_writing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    program = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from unit.test_audit import decision
from orrery_interceptors.audit import AuditWriter
from orrery_interceptors.points import Site
writer = AuditWriter(Path({str(path)!r}), "decision")
for index in range(10**6):
    writer.record(decision("x" * (index % 997)), {{"tool": "t", "input": index}}, Site("s"))
    print(index, flush=True)
"""
    for round_ in range(3):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(20 + round_ * 7):
                told = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            process.wait()
        found = verify(path)
        assert found.intact
        assert found.records >= told + 1


def test_an_audit_that_cannot_be_written_is_said_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    writer = AuditWriter(path, "decision")
    writer.record(decision(), {"tool": "t", "input": 1}, Site("s"))
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(AuditError, match="No space left"):
        writer.record(decision(), {"tool": "t", "input": 2}, Site("s"))
    with pytest.raises(AuditError):
        writer.record(decision(), {"tool": "t", "input": 3}, Site("s"))
    monkeypatch.setattr(os, "write", real)
    writer.record(decision(), {"tool": "t", "input": 4}, Site("s"))
    writer.close()
    assert verify(path).intact and verify(path).records == 4


def test_a_short_write_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data[:100])))
    write(tmp_path / "a.jsonl")
    monkeypatch.undo()
    assert verify(tmp_path / "a.jsonl").records == 3


def test_what_no_text_can_carry_is_said_in_the_record(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    writer = AuditWriter(path)
    bad = ({"op": "add", "path": "/input/x", "value": float("nan")},)
    writer.record(decision(patch=bad), {"tool": "\ud800", "input": float("nan")}, Site("s"))
    writer.close()
    (record,) = read_records(path)
    assert record["payload"] is None and "not written" in record["tool"] and verify(path).intact


def test_a_file_that_is_moved_away_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    writer = AuditWriter(path, "decision")
    writer.record(decision(), {"tool": "t", "input": 1}, Site("s"))
    path.rename(tmp_path / "old.jsonl")
    writer.record(decision(), {"tool": "t", "input": 2}, Site("s"))
    writer.close()
    assert verify(path).records == 1 and verify(tmp_path / "old.jsonl").records == 1


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_file_is_refused(tmp_path: Path, make: Any) -> None:
    path = tmp_path / "a.jsonl"
    make(path)
    with pytest.raises(AuditError):
        AuditWriter(path).check()


def test_a_foreign_file_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("dear diary\n")
    with pytest.raises(AuditError, match="holds no record"):
        AuditWriter(path).check()
    assert path.read_text() == "dear diary\n"


def test_an_old_file_is_read() -> None:
    found = verify(OLD)
    assert found.intact and found.records == 2
    assert json.loads(OLD.read_text().splitlines()[0])["v"] == 1


def test_after_a_fork_both_sides_write_to_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    writer = AuditWriter(path)
    writer.record(decision(), {"tool": "t", "input": 0}, Site("parent"))
    child = os.fork()
    if child == 0:
        writer.record(decision(), {"tool": "t", "input": 1}, Site("child"))
        writer.close()
        os._exit(0)
    writer.record(decision(), {"tool": "t", "input": 2}, Site("parent"))
    _, status = os.waitpid(child, 0)
    writer.close()
    assert status == 0 and verify(path).intact
    assert sorted(record["site"]["session"] for record in read_records(path)) == ["child", "parent", "parent"]
