"""Compile strangers' components in a process of their own, which can be stopped and cannot take the host's memory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..reasons import clean, cut
from .binary import ComponentError
from .compilechild import REFUSED
from .engine import MIB
from .failures import root_cause

_CHILD = Path(__file__).with_name("compilechild.py")


@dataclass(frozen=True, slots=True)
class CompileLimits:
    """What compiling one component may take."""

    seconds: int
    mib: int


def compile_component(data: bytes, limits: CompileLimits) -> bytes:
    """The component's machine code. Raises `ComponentError` when it is not valid or takes too much."""
    settings = {"memory": limits.mib * MIB, "seconds": limits.seconds, "path": [path or "." for path in sys.path]}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-B", str(_CHILD), json.dumps(settings)],
            input=data,
            capture_output=True,
            timeout=limits.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _too_long(limits) from None
    except OSError as error:
        raise ComponentError(f"cannot be compiled: no process can be started ({error})") from None
    if done.returncode == 0:
        return done.stdout
    if done.returncode == REFUSED:
        cause = cut(clean(root_cause(done.stdout.decode("utf-8", "replace"))), 300)
        raise ComponentError(f"is not a valid component: {cause}", "build it again with a current toolchain")
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise _too_long(limits)
    said = done.stderr.decode("utf-8", "replace").strip()
    if "panicked at" in said and "memory allocation" not in said:
        cause = cut(clean(said.partition("panicked at")[2].partition("\n")[2].partition("\n")[0]), 300)
        raise ComponentError(f"cannot be compiled: the compiler failed ({cause})", "build it with another toolchain")
    if done.returncode == -signal.SIGABRT or "MemoryError" in said:
        raise ComponentError(
            f"takes more than {limits.mib} MiB of memory to compile",
            "make it smaller, or raise limits.compileMiB if you trust it",
        )
    last = cut(clean(said.splitlines()[-1]), 200) if said else "it said nothing"
    raise ComponentError(f"cannot be compiled: the compiler ended with {done.returncode} ({last})")


def _too_long(limits: CompileLimits) -> ComponentError:
    return ComponentError(
        f"takes more than {limits.seconds} s to compile",
        "make it smaller, or raise limits.compileSeconds if you trust it",
    )
