"""Every code block in the documents does what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import CODE, ROOT
from guests.build import BUILD, toolchain
from orrery_interceptors.cases import read_cases
from orrery_interceptors.loop.session import parse_session
from orrery_interceptors.manifest import read_manifest

FILES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("samples/*/README.md"))]
FILES += [ROOT / "guest-sdk" / "rust" / "README.md"]
KNOWN = {"sh", "python", "rust", "typescript", "toml", "json", "jsonl", "text"}


@dataclass(frozen=True)
class Block:
    file: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"


def blocks() -> list[Block]:
    found = []
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        found += [
            Block(file, text.count("\n", 0, match.start()) + 1, match[1], match[2])
            for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        ]
    return found


BLOCKS = blocks()


def of(language: str) -> Any:
    chosen = [block for block in BLOCKS if block.language == language]
    assert chosen
    return pytest.mark.parametrize("block", chosen, ids=str)


def test_every_block_has_a_language_that_is_tested() -> None:
    assert {block.language for block in BLOCKS} <= KNOWN


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of one's own in which the documents' paths lead to the samples."""
    for name in ("samples", "guest-sdk", "tests", "Cargo.toml", "Cargo.lock"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".orrery").mkdir()
    return tmp_path


def environment() -> dict[str, str]:
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    more = {"PYTHONPATH": str(ROOT / "runtime"), "XDG_CACHE_HOME": str(CODE), "CARGO_TARGET_DIR": str(BUILD / "target")}
    return {**os.environ, "PATH": ":".join(paths), **more}


@of("python")
def test_python(block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    exec(compile("\n" * block.line + block.text, str(block.file), "exec"), {"__name__": "example"})


@of("sh")
def test_sh(block: Block, folder: Path) -> None:
    text = "\n".join(line for line in block.text.splitlines() if not line.startswith("make "))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_make_has_the_targets_that_are_named() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for block in BLOCKS:
        for target in re.findall(r"^make (\S+)", block.text, re.MULTILINE) if block.language == "sh" else ():
            assert f"\n{target}:" in makefile


@of("toml")
def test_toml(block: Block, tmp_path: Path) -> None:
    values = tomllib.loads(block.text)
    if "extension" in values:
        (tmp_path / "orrery.toml").write_text(block.text)
        read_manifest(tmp_path)
    if "case" in values:
        (tmp_path / "cases.toml").write_text(block.text)
        read_cases(tmp_path / "cases.toml")


@of("json")
def test_json(block: Block) -> None:
    assert isinstance(json.loads(block.text), dict)


@of("jsonl")
def test_jsonl(block: Block) -> None:
    assert parse_session(block.text.encode()).turns


def test_rust() -> None:
    """All blocks as modules of one crate: checked, and their tests run."""
    crate = BUILD / "docs"
    (crate / "src").mkdir(parents=True, exist_ok=True)
    (crate / "Cargo.toml").write_text(
        '[package]\nname = "docs"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\n'
        f'orrery-ext-api = {{ path = "{ROOT / "guest-sdk" / "rust"}" }}\n\n[workspace]\n'
    )
    modules = []
    for index, block in enumerate(block for block in BLOCKS if block.language == "rust"):
        modules.append(f'#[path = "block_{index}.rs"]\n#[allow(dead_code)]\nmod block_{index};')
        text = f"// {block}\n{block.text}"
        target = crate / "src" / f"block_{index}.rs"
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
    (crate / "src" / "lib.rs").write_text("\n".join(modules) + "\n")
    command = [str(toolchain().cargo), "test", "--quiet", "--lib", f"--manifest-path={crate / 'Cargo.toml'}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@of("typescript")
def test_typescript(block: Block, tmp_path: Path) -> None:
    """Checked against the SDK's types."""
    sdk = ROOT / "guest-sdk" / "typescript"
    (tmp_path / "extension.ts").write_text(block.text)
    options = json.loads((sdk / "tsconfig.json").read_text())["compilerOptions"]
    options["paths"] = {"@orrery/ext": [str(sdk / "src" / "index.ts")]}
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["*.ts"]}))
    tsc = sdk / "node_modules" / "typescript" / "bin" / "tsc"
    done = subprocess.run(["node", str(tsc), "--noEmit", "-p", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_links_lead_somewhere() -> None:
    dead = [
        f"{file.name}: {link}"
        for file in FILES
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", file.read_text(encoding="utf-8"))
        if "://" not in link and not (file.parent / link).exists()
    ]
    assert not dead
