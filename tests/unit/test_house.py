"""The house holds: imports go one way, only the sandbox knows wasmtime, and no module grows past what one can read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from conftest import ROOT

PACKAGE = ROOT / "runtime" / "orrery_interceptors"

# From the bottom up: a part may import those before it, and its own.
ORDER = [
    {"_version", "errors", "jsontext", "points", "verdicts", "toolchain"},
    {"payloads", "decisions", "reasons", "patterns", "rewriting", "contextedits", "digests"},
    {"tomllines", "validation", "tomlfile", "fields", "rules", "manifest", "config"},
    {"sandbox"},
    {"compose"},
    {"registry"},
    {"audit", "bus", "policy"},
    {"runtime", ""},
    {"cases", "doctor"},
    {"loop"},
    {"adapters"},
    {"cli", "__main__"},
]
LEVEL = {part: level for level, parts in enumerate(ORDER) for part in parts}


def modules() -> Iterator[tuple[Path, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        yield path, "" if relative == Path("__init__.py") else relative.parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """What a module imports: the part of the package, or the top-level name of another one."""
    relative = path.relative_to(PACKAGE).with_suffix("")
    package = [*relative.parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield "other", alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield "other", (node.module or "").split(".")[0]
                continue
            base = package[: len(package) - node.level + 1]
            parts = [*base, *(node.module or "").split(".")] if node.module else base
            for name in [parts[0]] if parts else [alias.name for alias in node.names]:
                yield "own", name


def test_every_part_has_a_place() -> None:
    assert {part for _, part in modules()} <= set(LEVEL)


def test_imports_go_down_only() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path, part in modules()
        for kind, name in imported(path)
        if kind == "own" and name != part and LEVEL.get(name, -1) > LEVEL[part]
    ]
    assert not wrong


def test_only_the_sandbox_knows_wasmtime() -> None:
    users = {
        part for path, part in modules() for kind, name in imported(path) if kind == "other" and name == "wasmtime"
    }
    assert users == {"sandbox"}


def test_modules_stay_readable() -> None:
    long = [f"{path.name}: {lines}" for path, _ in modules() if (lines := len(path.read_text().splitlines())) > 400]
    assert not long


def test_what_is_public_is_described() -> None:
    bare = []
    for path, _ in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            named = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            if named and not node.name.startswith("_") and not ast.get_docstring(node):
                bare.append(f"{path.relative_to(PACKAGE)}: {node.name}")
    assert not bare
