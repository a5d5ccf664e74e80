"""Building an extension, whatever it is written in: Rust, TypeScript or Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

from .component import BuildError, build_component, check_component, contract
from .rust import default_folder, find

_ROOT = Path(__file__).resolve().parents[3]


class Language(StrEnum):
    """What an extension may be written in."""

    RUST = "rust"
    TYPESCRIPT = "ts"
    PYTHON = "python"


def language_of(folder: Path) -> Language:
    """What the extension in a folder is written in. Raises `BuildError` where that cannot be told."""
    if (folder / "Cargo.toml").is_file():
        return Language.RUST
    for name, language in (("extension.ts", Language.TYPESCRIPT), ("extension.py", Language.PYTHON)):
        if (folder / name).is_file():
            return language
    raise BuildError(f"{folder}: has no Cargo.toml, extension.ts or extension.py; there is nothing to build")


def build(folder: Path, output: Path) -> Language:
    """Build the extension in a folder and write its component, which appears whole or not at all.

    Raises `BuildError` with what the compiler said, or with what to install, `ToolchainError` where Rust is missing.
    """
    language = language_of(folder)
    match language:
        case Language.RUST:
            build_component(find(default_folder()), folder, output, wit=contract())
        case Language.TYPESCRIPT:
            _run([_node(), str(_typescript(folder)), "extension.ts", "-o", str(output.absolute())], folder)
        case Language.PYTHON:
            _run([*_python(), "extension.py", "-o", str(output.absolute())], folder)
    check_component(output, contract(), folder.name)
    return language


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, errors="replace")
    if done.returncode:
        raise BuildError(f"{folder}: does not build", done.stdout + done.stderr)


def _node() -> str:
    found = shutil.which("node")
    if found is None:
        raise BuildError("node is not installed; install Node.js 20 or newer")
    return found


def _typescript(folder: Path) -> Path:
    """The SDK's build program: the project's own, or in a checkout the one that stands there."""
    for above in (folder.absolute(), *folder.absolute().parents):
        installed = above / "node_modules" / "@orrery" / "ext" / "bin" / "build.mjs"
        if installed.is_file():
            return installed
    checkout = _ROOT / "guest-sdk" / "typescript"
    if (checkout / "bin" / "build.mjs").is_file():
        if not (checkout / "node_modules").is_dir():
            raise BuildError(f"the TypeScript SDK is not set up; run npm ci in {checkout}")
        return checkout / "bin" / "build.mjs"
    raise BuildError(f"{folder}: @orrery/ext is not installed; run npm install @orrery/ext there")


def _python() -> list[str]:
    """The command that builds a Python extension, in this environment or with the SDK of a checkout."""
    checkout = _ROOT / "guest-sdk" / "python"
    if (checkout / "orrery_ext").is_dir():
        run = f"import sys; sys.path.insert(0, {str(checkout)!r}); from orrery_ext.build import main; sys.exit(main())"
        return [sys.executable, "-c", run]
    done = subprocess.run([sys.executable, "-c", "import orrery_ext"], capture_output=True, check=False)
    if done.returncode:
        raise BuildError("orrery-ext is not installed; run pip install orrery-ext")
    return [sys.executable, "-m", "orrery_ext.build"]
