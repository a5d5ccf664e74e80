"""Builds the hostile guests: WAT with what they share, made into components, kept by content."""

from __future__ import annotations

import hashlib
import re
import subprocess
from functools import cache
from pathlib import Path

from orrery_interceptors.toolchain.component import find_wasm_tools

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GUESTS = HERE / "guests"
BUILD = ROOT / "tests" / "guests" / ".build" / "hostile"
NAMES = sorted(path.stem for path in GUESTS.glob("*.wat") if not path.stem.startswith("_"))

_PART = re.compile(r"^\s*;;; (\w+)$", re.MULTILINE)


def module(name: str) -> str:
    """The core module of a guest as text: the shared one with the guest's parts in place of its own."""
    pieces = _PART.split((GUESTS / f"{name}.wat").read_text())
    parts = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    shared = _PART.split((GUESTS / "_world.wat").read_text())
    text = shared[0]
    for mark, body in zip(shared[1::2], shared[2::2], strict=True):
        text += body if mark == "end" else parts.pop(mark, body)
    assert not parts, f"{name}: there is no part {list(parts)}"
    return text


@cache
def component(name: str) -> bytes:
    """A guest as a component."""
    return componentize(module(name))


def componentize(text: str) -> bytes:
    """A core module of the world, as text, as a component."""
    wit = (ROOT / "wit" / "interceptors.wit").read_bytes()
    target = BUILD / f"{hashlib.sha256(text.encode() + wit).hexdigest()[:24]}.wasm"
    if not target.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        source, core = target.with_suffix(".wat"), target.with_suffix(".core")
        source.write_text(text)
        tools = str(find_wasm_tools())
        embed = ["component", "embed", str(ROOT / "wit"), "-w", "orrery-extension", str(source), "-o", str(core)]
        for command in (embed, ["component", "new", str(core), "-o", str(target)]):
            done = subprocess.run([tools, *command], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
    return target.read_bytes()


def with_more(data: bytes, more: str) -> bytes:
    """A component with more definitions at its end, as text."""
    tools = str(find_wasm_tools())
    text = subprocess.run([tools, "print"], input=data, capture_output=True, check=True).stdout.decode()
    end = text.rstrip().rindex(")")
    done = subprocess.run([tools, "parse"], input=(text[:end] + more + ")").encode(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def doctors_probe() -> str:
    """The doctor's probe as the text of a component."""
    command = [str(find_wasm_tools()), "print"]
    return subprocess.run(command, input=component("_doctor"), capture_output=True, check=True).stdout.decode()


if __name__ == "__main__":
    (ROOT / "runtime" / "orrery_interceptors" / "doctor" / "probe.wat").write_text(doctors_probe())
