"""Build the tests' guests, once for each state of their sources.

A component is kept in `.build/` under a digest of all that decides its bytes: the sources of the package and of its
path dependencies, the contract, and the versions of the tools.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from orrery_interceptors.toolchain.component import build_component, find_wasm_tools, read_package
from orrery_interceptors.toolchain.rust import RustToolchain, default_folder, find

ROOT = Path(__file__).resolve().parents[2]
WIT = ROOT / "wit"
GUESTS = Path(__file__).resolve().parent
BUILD = GUESTS / ".build"

_SUFFIXES = frozenset({".rs", ".toml", ".lock", ".wit"})
_SKIPPED = frozenset({"target", ".build", ".git", "node_modules"})


@cache
def toolchain() -> RustToolchain:
    """The toolchain of this process. Raises `ToolchainError` when there is none and none can be made."""
    return find(default_folder())


@cache
def guest(name: str) -> Path:
    """The component of `tests/guests/NAME`. Raises `ToolchainError` or `BuildError`."""
    return component(GUESTS / name)


def component(folder: Path) -> Path:
    """The component of a cargo package anywhere, from the cache or built now."""
    package = read_package(toolchain(), folder)
    files = {file for source in (*package.local, WIT) for file in _sources(source)}
    files |= {file for name in ("Cargo.toml", "Cargo.lock") if (file := package.workspace / name).is_file()}
    target = BUILD / f"{package.name}-{_digest(files)[:16]}.wasm"
    if not target.is_file():
        build_component(toolchain(), folder, target, wit=WIT, target_dir=BUILD / "target")
    return target


def _digest(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    version = subprocess.run([find_wasm_tools(), "--version"], capture_output=True, check=True).stdout
    builder = ROOT / "runtime" / "orrery_interceptors" / "toolchain" / "component.py"
    for data in (toolchain().description.encode(), version, builder.read_bytes()):
        total.update(hashlib.sha256(data).digest())
    for path in sorted(files):
        total.update(hashlib.sha256(str(path).encode()).digest())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _sources(folder: Path) -> Iterable[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and entry.name not in _SKIPPED:
            yield from _sources(entry)
        elif entry.suffix in _SUFFIXES:
            yield entry


if __name__ == "__main__":
    import sys

    for each in sys.argv[1:]:
        print(guest(each))  # noqa: T201
