"""Finding files and lines."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from orrery_interceptors.loop.tools import Glob, Grep, ToolContext, globs, search
from orrery_interceptors.loop.tools.globs import matches

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def tree(folder: Path) -> None:
    for path in (
        "a.py",
        "b.txt",
        "src/c.py",
        "src/deep/d.py",
        "src/deep/e[1].py",
        ".hidden/f.py",
        "src/.g.py",
        "h*.md",
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"first\nfind me in {path}\n")
    (folder / "loop").symlink_to(".")
    (folder / "link.py").symlink_to("a.py")
    os.mkfifo(folder / "fifo.py")
    os.close(os.open(os.fsencode(folder) + b"/\xff.py", os.O_CREAT))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["a.py"]),
        ("**/*.py", ["a.py", "src/c.py", "src/deep/d.py", "src/deep/e[1].py"]),
        ("src/**", ["src/c.py", "src/deep/", "src/deep/d.py", "src/deep/e[1].py"]),
        ("src/**/**/d.??", ["src/deep/d.py"]),
        ("src/*", ["src/c.py", "src/deep/"]),
        ("*", ["a.py", "b.txt", "h*.md", "src/"]),
        (".*/*", [".hidden/f.py"]),
        ("src/.*", ["src/.g.py"]),
        ("**/e[1].py", ["src/deep/e[1].py"]),
        ("h*.md", ["h*.md"]),
        ("./src/c.py", ["src/c.py"]),
        ("loop/**", []),
        ("A.py", []),
    ],
)
async def test_glob_finds_files_and_folders_and_follows_no_link(
    context: ToolContext, pattern: str, found: list[str]
) -> None:
    assert await Glob().run({"pattern": pattern}, context) == {"t": "ok", "value": found}


@pytest.mark.parametrize("pattern", ["../*", "src/../../*", "/etc/*", ".", "/", "a\0"])
async def test_glob_does_not_look_outside(context: ToolContext, pattern: str) -> None:
    assert (await Glob().run({"pattern": pattern}, context))["t"] == "error"


async def test_glob_is_bounded_and_says_so(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_FOUND", 2)
    outcome = await Glob().run({"pattern": "**/*.py"}, context)
    assert outcome == {"t": "truncated", "value": ["a.py", "src/c.py"], "omitted": 2}
    monkeypatch.setattr(globs, "MAX_VISITED", 1)
    assert (await Glob().run({"pattern": "**"}, context))["t"] == "truncated"


async def test_glob_does_not_go_deeper_than_its_bound(folder: Path, context: ToolContext) -> None:
    (folder / "/".join(["x"] * 70)).mkdir(parents=True)
    outcome = await Glob().run({"pattern": "x/**"}, context)
    assert outcome["t"] == "truncated"
    assert len(outcome["value"]) == globs.MAX_DEPTH - 1


def test_patterns_take_no_exponential_time() -> None:
    assert not matches(("*a" * 100,), ("a" * 200 + "b",))
    assert not matches(("**",) * 50 + ("x",), ("y",) * 60)
    assert matches(("**", "a*?b"), ("d", "axxb"))
    assert not matches(("a*?b",), ("ab",))


async def test_grep_finds_lines_with_their_numbers(context: ToolContext) -> None:
    outcome = await Grep().run({"pattern": "find (?=me)"}, context)
    assert outcome["t"] == "ok"
    assert outcome["value"]["searched"] == 6
    assert outcome["value"]["matches"][0] == {"path": "a.py", "line": 2, "text": "find me in a.py"}
    assert [match["path"] for match in outcome["value"]["matches"]] == [
        "a.py", "b.txt", "h*.md", "src/c.py", "src/deep/d.py", "src/deep/e[1].py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "paths"),
    [
        ({"path": "src/deep"}, ["src/deep/d.py", "src/deep/e[1].py"]),
        ({"path": "src", "glob": "*.py"}, ["src/c.py"]),
        ({"path": ".hidden/f.py"}, [".hidden/f.py"]),
        ({"path": "h*.md"}, ["h*.md"]),
        ({"path": "a.py", "glob": "*.txt"}, []),
        ({"glob": "**/d.*"}, ["src/deep/d.py"]),
    ],
)
async def test_grep_searches_where_it_is_told(context: ToolContext, more: dict[str, str], paths: list[str]) -> None:
    outcome = await Grep().run({"pattern": "find", **more}, context)
    assert [match["path"] for match in outcome["value"]["matches"]] == paths


@pytest.mark.parametrize("path", ["../x", "loop", "link.py", "fifo.py", "nowhere", "/etc"])
async def test_grep_does_not_look_outside_or_at_special_files(context: ToolContext, path: str) -> None:
    assert (await Grep().run({"pattern": "x", "path": path}, context))["t"] == "error"


async def test_a_regular_expression_without_end_is_ended(folder: Path, context: ToolContext) -> None:
    (folder / "trap").write_text("a" * 60 + "!")
    with anyio.fail_after(10):
        outcome = await Grep(seconds=0.3).run({"pattern": "^(a+)+$", "path": "trap"}, context)
    assert outcome["t"] == "error"
    assert "no end within 0.3 seconds" in outcome["message"]


@pytest.mark.parametrize("pattern", ["(", "[", "a{2,1}", "(?P<n>a)(?P<n>b)"])
async def test_a_broken_expression_is_an_error_outcome(context: ToolContext, pattern: str) -> None:
    outcome = await Grep().run({"pattern": pattern}, context)
    assert outcome["message"].startswith("not a regular expression")


async def test_grep_is_bounded_and_counts_on(folder: Path, context: ToolContext) -> None:
    (folder / "many").write_text("hit\n" * 1000 + "x" * 2000 + "hit")
    outcome = await Grep().run({"pattern": "hit", "path": "many"}, context)
    assert (outcome["t"], outcome["omitted"], len(outcome["value"]["matches"])) == ("truncated", 801, 200)
    outcome = await Grep().run({"pattern": "x+hit", "path": "many"}, context)
    assert len(outcome["value"]["matches"][0]["text"]) == search.LINE_WIDTH


async def test_grep_passes_over_binary_files_and_says_what_is_too_large(
    folder: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "binary").write_bytes(b"find\0")
    (folder / "latin").write_bytes(b"find caf\xe9")
    monkeypatch.setattr(search, "MAX_FILE", 100)
    (folder / "large").write_text("find" * 100)
    outcome = await Grep().run({"pattern": "^find", "glob": "*"}, context)
    value = outcome["value"]
    assert {match["path"]: match["text"] for match in value["matches"]}["latin"] == "find caf\ufffd"
    assert value["skipped"] == 1
    assert "binary" not in {match["path"] for match in value["matches"]}
