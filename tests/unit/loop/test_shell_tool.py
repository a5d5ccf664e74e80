"""Commands are bounded, and nothing of them is left behind."""

from __future__ import annotations

import os
import select
import time
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from orrery_interceptors.loop.tools import Bash, ToolContext, ToolLimits

pytestmark = pytest.mark.anyio


def ends(pid: int) -> bool:
    """Whether a process that was killed ends, which takes the system a moment."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], 5)[0])
    finally:
        os.close(fd)


async def test_output_is_a_string_with_both_streams_in_order(context: ToolContext) -> None:
    outcome = await Bash().run({"command": "echo one; echo two >&2; echo -n three"}, context)
    assert outcome == {"t": "ok", "value": "one\ntwo\nthree", "exit": 0}


async def test_it_runs_in_the_workspace(folder: Path, context: ToolContext) -> None:
    outcome = await Bash().run({"command": "pwd; echo hi > made.txt"}, context)
    assert outcome["value"] == f"{folder}\n"
    assert (folder / "made.txt").read_text() == "hi\n"


@pytest.mark.parametrize(("command", "status"), [("exit 7", 7), ("kill -TERM $$", -15), ("nosuchcommand", 127)])
async def test_a_status_that_is_not_zero_stands_beside_the_output(
    context: ToolContext, command: str, status: int
) -> None:
    outcome = await Bash().run({"command": command}, context)
    assert (outcome["t"], outcome["exit"]) == ("ok", status)


async def test_standard_input_is_empty(context: ToolContext) -> None:
    assert (await Bash().run({"command": "cat; read x; echo $?"}, context))["value"] == "1\n"


async def test_only_the_named_variables_are_handed_on(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("BASH_ENV", "/nonexistent")
    monkeypatch.setenv("TZ", "UTC")
    outcome = await Bash().run({"command": "env"}, context)
    names = {line.partition("=")[0] for line in outcome["value"].splitlines()}
    assert names <= {*context.limits.environment, "PWD", "OLDPWD", "SHLVL", "_"}
    assert "TZ" in names


async def test_bytes_that_are_not_utf8_are_replaced(context: ToolContext) -> None:
    assert (await Bash().run({"command": r"printf 'a\xffb\0c'"}, context))["value"] == "a\ufffdb\0c"


async def test_no_end_in_time_ends_the_whole_group(folder: Path, context: ToolContext) -> None:
    command = "echo started; sleep 600 & echo $! > pid; sleep 600"
    start = time.monotonic()
    outcome = await Bash().run({"command": command, "timeout": 300}, context)
    assert time.monotonic() - start < 5
    assert outcome["t"] == "error"
    assert outcome["message"].startswith("no end within 300 ms")
    assert "started" in outcome["message"]
    assert ends(int((folder / "pid").read_text()))


async def test_the_time_out_of_the_context_is_the_default(context: ToolContext) -> None:
    quick = replace(context, limits=ToolLimits(timeout_ms=100))
    assert "100 ms" in (await Bash().run({"command": "sleep 60"}, quick))["message"]


async def test_too_much_output_ends_the_command_and_is_counted(context: ToolContext) -> None:
    small = replace(context, limits=ToolLimits(output_bytes=1000))
    outcome = await Bash().run({"command": "yes"}, small)
    assert outcome["t"] == "truncated"
    assert outcome["value"] == "y\n" * 500
    assert outcome["omitted"] > 0
    assert outcome["exit"] == -9


async def test_output_of_exactly_the_limit_is_whole(context: ToolContext) -> None:
    small = replace(context, limits=ToolLimits(output_bytes=1000))
    outcome = await Bash().run({"command": "head -c 1000 /dev/zero | tr '\\0' x"}, small)
    assert outcome == {"t": "ok", "value": "x" * 1000, "exit": 0}


async def test_what_is_left_in_the_background_is_ended_with_the_command(folder: Path, context: ToolContext) -> None:
    with anyio.fail_after(10):
        outcome = await Bash().run({"command": "sleep 600 & echo $! > pid; echo done"}, context)
    assert outcome["value"] == "done\n"
    assert ends(int((folder / "pid").read_text()))


async def test_a_process_that_left_the_group_does_not_hold_up_the_answer(folder: Path, context: ToolContext) -> None:
    with anyio.fail_after(10):
        command = "setsid sh -c 'echo $$ > pid; exec sleep 600' & until [ -s pid ]; do :; done; echo done"
        outcome = await Bash().run({"command": command}, context)
    os.kill(int((folder / "pid").read_text()), 9)
    assert outcome["value"] == "done\n"


async def test_a_command_that_closes_its_output_is_waited_for(folder: Path, context: ToolContext) -> None:
    outcome = await Bash().run({"command": "exec >&- 2>&-; sleep 0.2; touch done; exit 3"}, context)
    assert outcome == {"t": "ok", "value": "", "exit": 3}
    assert (folder / "done").exists()


async def test_cancelling_ends_the_whole_group(folder: Path, context: ToolContext) -> None:
    os.mkfifo(folder / "ready")
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:

            async def cancel_when_ready() -> None:
                await anyio.to_thread.run_sync((folder / "ready").read_text)
                tasks.cancel_scope.cancel()

            tasks.start_soon(cancel_when_ready)
            await Bash().run({"command": "sleep 600 & echo $! $$ > pids; echo > ready; wait"}, context)
            pytest.fail("the command was not cancelled")
    for pid in (folder / "pids").read_text().split():
        assert ends(int(pid))


@pytest.mark.parametrize("command", ["a\0b", "\ud800", "x" * 200_000])
async def test_a_command_that_cannot_be_run_is_an_error_outcome(context: ToolContext, command: str) -> None:
    assert (await Bash().run({"command": command}, context))["t"] == "error"


async def test_a_workspace_that_is_gone_is_an_error_outcome(folder: Path, context: ToolContext) -> None:
    folder.rmdir()
    outcome = await Bash().run({"command": "true"}, context)
    assert outcome["message"].startswith("bash could not be started")


async def test_a_machine_without_bash_is_an_error_outcome(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "no bash" in (await Bash().run({"command": "true"}, context))["message"]
