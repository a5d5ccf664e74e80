"""What would end or hang the host's process: each is tried in a process of its own, which must end well."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import CODE, ROOT
from hostile.build import component
from orrery_interceptors.sandbox import Bounds, CompileLimits, ComponentError, Sandbox
from orrery_interceptors.sandbox.compiler import compile_component

PRELUDE = """
import signal, sys, threading, os, time
from pathlib import Path
from orrery_interceptors import Site
from orrery_interceptors.points import Point
from orrery_interceptors.sandbox import Bounds, CodeCache, CompileLimits, Sandbox
sandbox = Sandbox(cache=CodeCache(Path(sys.argv[1])), compiling=CompileLimits(60, 2048))
def load(name, memory=64):
    return sandbox.load(Path(sys.argv[2], name).read_bytes(), Bounds(10**9, memory, 1024, 8192, 16, 64)).guest
def ask(guest, ms=100):
    return guest.ask(Point.TOOL_BEFORE, b"x", b"{}", Site(), (b"t", b"{}"), 3, ms).outcome
"""


@pytest.fixture(scope="module")
def guests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guests")
    for name in ("recurse", "log-a-million", "spin", "keep-state", "log-megabytes"):
        (folder / name).write_bytes(component(name))
    return folder


def run(program: str, guests: Path, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "runtime")}
    command = [sys.executable, "-X", "faulthandler", "-c", PRELUDE + program, str(CODE / "process"), str(guests)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("size", [64, 256, 512, 1024])
def test_recursion_on_a_thread_with_a_small_stack(guests: Path, size: int) -> None:
    done = run(
        f"""
guest = load("recurse")
threading.stack_size({size} * 1024)
said = []
thread = threading.Thread(target=lambda: said.append(ask(guest)))
thread.start(); thread.join()
print(said[0].kind)
""",
        guests,
    )
    assert (done.returncode, done.stdout) == (0, "stack\n"), done.stderr


def test_signals_while_a_guest_logs_in_the_main_thread(guests: Path) -> None:
    """A KeyboardInterrupt that leaves the log function would end the process."""
    done = run(
        """
guest = load("log-a-million")
stop, interrupted = threading.Event(), 0
def bother():
    while not stop.wait(0.0005):
        os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.SIG_IGN)
threading.Thread(target=bother, daemon=True).start()
end = time.monotonic() + 3
while time.monotonic() < end:
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        ask(guest, 30)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        interrupted += 1
while True:
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        break
    except KeyboardInterrupt:
        pass
stop.set()
print(interrupted > 10)
""",
        guests,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "SystemExit", "MemoryError", "BaseException", "GeneratorExit"])
def test_a_log_function_that_raises_anything(guests: Path, error: str) -> None:
    done = run(
        f"""
from orrery_interceptors.sandbox import guestlog
def broken(*arguments):
    raise {error}("mine")
guestlog._read = broken
guest = load("log-megabytes")
print(getattr(ask(guest, 5000), "answer", None), len(sys.stderr.getvalue()) if hasattr(sys.stderr, "getvalue") else 0)
""",
        guests,
    )
    assert (done.returncode, done.stdout) == (0, "proceed 0\n"), done.stderr


def test_a_fork_has_deadlines_too(guests: Path) -> None:
    done = run(
        """
guest = load("spin")
assert str(ask(guest).kind) == "deadline"
child = os.fork()
if child == 0:
    os._exit(0 if str(ask(guest).kind) == "deadline" else 1)
for _ in range(2000):
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    time.sleep(0.01)
else:
    os.kill(child, 9)
    status = "the child hangs"
print(status, ask(guest).kind)
""",
        guests,
    )
    assert (done.returncode, done.stdout) == (0, "0 deadline\n"), done.stderr


def test_a_child_that_loads_after_a_fork(guests: Path) -> None:
    done = run(
        """
load("spin"); load("recurse")
child = os.fork()
if child == 0:
    os._exit(0 if ask(load("keep-state")) is not None else 1)
_, status = os.waitpid(child, 0)
print(status)
""",
        guests,
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_address_space_that_is_short(guests: Path) -> None:
    """No pool then, and no abort; a thread that cannot be had is the caller's error."""
    import resource

    done = run(
        """
print(sandbox.unpooled)
guest = load("keep-state")
threads, said = [], []
for _ in range(8):
    threads.append(threading.Thread(target=lambda: said.append(ask(guest, 1000))))
    threads[-1].start()
for thread in threads:
    thread.join()
print({str(getattr(one, "answer", one)) for one in said}, len(said))
""",
        guests,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30)),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "there is too little address space; see ulimit -v\n{'proceed'} 8\n"


def test_many_threads_decide_and_close_meanwhile(guests: Path) -> None:
    done = run(
        """
guest = load("keep-state")
said = []
def work():
    for _ in range(200):
        said.append(ask(guest, 5000))
threads = [threading.Thread(target=work) for _ in range(16)]
for thread in threads: thread.start()
guest.close()
for thread in threads: thread.join()
kinds = {str(getattr(one, "kind", None) or one.answer) for one in said}
print(len(said), kinds <= {"proceed", "gone", "no-slot"}, "gone" in kinds)
""",
        guests,
    )
    assert (done.returncode, done.stdout) == (0, "3200 True True\n"), done.stderr


# ---- compiling ----------------------------------------------------------------------------------------------------


def leb(number: int) -> bytes:
    out = bytearray()
    while True:
        byte, number = number & 0x7F, number >> 7
        out.append(byte | (0x80 if number else 0))
        if not number:
            return bytes(out)


def section(identifier: int, body: bytes) -> bytes:
    return bytes([identifier]) + leb(len(body)) + body


def bomb(functions: int, blocks: int, variables: int) -> bytes:
    """A component with a module of functions that are hard to compile: many locals, merged in many blocks."""
    body = leb(1) + leb(variables) + b"\x7f"
    step = b"\x02\x40\x20\x00\x0d\x00" + b"".join(
        b"\x20" + leb(index % variables) + b"\x41\x01\x6a\x21" + leb((index * 7) % variables) for index in range(4)
    )
    body += step * blocks + b"\x0b" * blocks + b"\x0b"
    code = leb(functions) + (leb(len(body)) + body) * functions
    module = b"\0asm\x01\0\0\0" + section(1, b"\x01\x60\0\0") + section(3, leb(functions) + b"\0" * functions)
    module += section(10, code)
    return b"\0asm\x0d\0\x01\0" + section(1, module)


@pytest.mark.parametrize(
    ("what", "data"), [("one giant function", (1, 40_000, 20_000)), ("many functions", (4_000, 40, 50))]
)
def test_a_compile_bomb_is_refused_within_its_limits(what: str, data: tuple[int, int, int]) -> None:
    import resource

    made = bomb(*data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    with pytest.raises(ComponentError, match=r"takes more than (3 s|512 MiB of memory) to compile"):
        compile_component(made, CompileLimits(3, 512))
    assert time.monotonic() - started < 15
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_a_component_that_is_larger_than_is_read() -> None:
    sandbox = Sandbox(cache=None, compiling=CompileLimits(60, 2048))
    with pytest.raises(ComponentError, match="at most"):
        sandbox.load(b"\0" * (256 * 2**20 + 1), Bounds(1, 1, 1, 1, 1, 1))
    sandbox.close()


def test_a_compiler_that_is_killed_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    child = tmp_path / "child.py"
    monkeypatch.setattr("orrery_interceptors.sandbox.compiler._CHILD", child)
    for program, what in (
        (f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})", "takes more than"),
        ("raise SystemExit('odd')", "the compiler ended with 1 .odd"),
        ("import os; os.abort()", "takes more than 2048 MiB"),
    ):
        child.write_text(program)
        with pytest.raises(ComponentError, match=what):
            compile_component(b"", CompileLimits(60, 2048))
