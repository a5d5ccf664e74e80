"""A child process with bounds: time, output, and what it leaves behind.

Done by hand in a worker thread, not with the event loop's own processes: whether those end with the process or with
the last holder of its pipe differs between event loops and versions, and what holds a pipe open here is a stranger's.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from anyio import from_thread

# How long a cancellation may go unnoticed.
_TICK_MS = 50
# How long a pipe is read on that a process outside the group still holds open.
_DRAIN_SECONDS = 0.2
_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended. `omitted` counts the bytes that were read beyond the limit and not kept; `exit` is negative
    where a signal ended it."""

    output: bytes
    omitted: int
    exit: int
    timed_out: bool


def run_bounded(
    argv: Sequence[str], *, folder: Path, environment: Mapping[str, str], output_bytes: int, seconds: float
) -> Ended:
    """Run to its end, or until its time is up or it wrote more than `output_bytes`.

    The process leads a session and a process group of its own, and the whole group is killed when this returns or
    raises. Standard input is empty; standard error goes where standard output goes. Blocks: call it with
    `anyio.to_thread.run_sync`, whose cancellation it obeys. Raises `OSError` where it cannot be started.
    """
    output = _Output(output_bytes)
    deadline = time.monotonic() + seconds
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout is not None
    with process.stdout as pipe:
        os.set_blocking(pipe.fileno(), False)
        try:
            timed_out = _follow(process, pipe, output, deadline)
        finally:
            _end(process)
        _drain(pipe, output)
    return Ended(bytes(output.kept), output.omitted, process.returncode, timed_out)


class _Output:
    def __init__(self, limit: int) -> None:
        self.kept = bytearray()
        self.limit = limit
        self.omitted = 0

    def take(self, pipe: IO[bytes]) -> bool:
        """Read what there is. Whether more may come."""
        try:
            chunk = os.read(pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return True
        room = self.limit - len(self.kept)
        self.kept += chunk[:room]
        self.omitted += max(0, len(chunk) - room)
        return bool(chunk)


def _follow(process: subprocess.Popen[bytes], pipe: IO[bytes], output: _Output, deadline: float) -> bool:
    """Read until the process ended, wrote too much or used up its time. Whether it was the time."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    exit_fd = _exit_fd(process.pid)
    try:
        if exit_fd is not None:
            poll.register(exit_fd, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            ready = {fd for fd, _ in poll.poll(max(0, min(_TICK_MS, left * 1000)))}
            if pipe.fileno() in ready and not output.take(pipe):
                poll.unregister(pipe)
            if output.omitted or _has_ended(process):
                return False
            if left <= 0:
                return True
            from_thread.check_cancelled()
    finally:
        if exit_fd is not None:
            os.close(exit_fd)


def _exit_fd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends, where the system has such a thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process ended. It is left unreaped, so that its id stays its own until its group is killed."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _drain(pipe: IO[bytes], output: _Output) -> None:
    """Take in what was written before the end."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    deadline = time.monotonic() + _DRAIN_SECONDS
    while (left := deadline - time.monotonic()) > 0 and poll.poll(left * 1000):
        if not output.take(pipe):
            return
