"""Reading, writing and editing by a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orrery_interceptors.loop.tools import Edit, Read, Tool, ToolContext, ToolLimits, Write, builtin_tools

pytestmark = pytest.mark.anyio


def limited(context: ToolContext, size: int) -> ToolContext:
    return replace(context, limits=ToolLimits(output_bytes=size))


async def test_read_returns_the_text_as_it_stands(folder: Path, context: ToolContext) -> None:
    text = "\ufeffone\r\ntwo\u202e 🦀\n\nno newline"
    (folder / "a.txt").write_bytes(text.encode())
    assert await Read().run({"path": "a.txt"}, context) == {"t": "ok", "value": text}


@pytest.mark.parametrize(
    ("more", "value"),
    [
        ({"offset": 2}, "b\nc\n"),
        ({"offset": 1, "limit": 1}, "a\n"),
        ({"offset": 2, "limit": 1}, "b\n"),
        ({"limit": 2}, "a\nb\n"),
        ({"limit": 99}, "a\nb\nc\n"),
        ({"offset": 3.0, "limit": 5.0}, "c\n"),
    ],
)
async def test_read_returns_the_lines_asked_for(
    folder: Path, context: ToolContext, more: dict[str, Any], value: str
) -> None:
    (folder / "a.txt").write_text("a\nb\nc\n")
    assert await Read().run({"path": "a.txt", **more}, context) == {"t": "ok", "value": value}


async def test_read_counts_lines_across_the_chunks_of_a_large_file(folder: Path, context: ToolContext) -> None:
    lines = [f"{number:07}\n" for number in range(100_000)]
    (folder / "big").write_text("".join(lines))
    outcome = await Read().run({"path": "big", "offset": 65_530, "limit": 20}, context)
    assert outcome == {"t": "ok", "value": "".join(lines[65_529:65_549])}
    outcome = await Read().run({"path": "big", "offset": 99_999, "limit": 20}, context)
    assert outcome == {"t": "ok", "value": "".join(lines[99_998:])}


async def test_read_says_how_much_did_not_fit(folder: Path, context: ToolContext) -> None:
    (folder / "big").write_text("x" * 1_000_000)
    outcome = await Read().run({"path": "big"}, limited(context, 1000))
    assert outcome == {"t": "truncated", "value": "x" * 1000, "omitted": 999_000}
    (folder / "lines").write_text("12345678\n" * 100)
    outcome = await Read().run({"path": "lines", "offset": 2, "limit": 3}, limited(context, 20))
    assert outcome == {"t": "truncated", "value": "12345678\n12345678\n12", "omitted": 7}


async def test_read_cuts_between_characters(folder: Path, context: ToolContext) -> None:
    (folder / "crabs").write_text("🦀🦀🦀")
    assert await Read().run({"path": "crabs"}, limited(context, 6)) == {"t": "truncated", "value": "🦀", "omitted": 8}


async def test_read_of_an_empty_file_and_beyond_the_end(folder: Path, context: ToolContext) -> None:
    (folder / "empty").write_text("")
    assert await Read().run({"path": "empty"}, context) == {"t": "ok", "value": ""}
    outcome = await Read().run({"path": "empty", "offset": 5}, context)
    assert outcome == {"t": "error", "message": "empty has no line 5"}


@pytest.mark.parametrize("data", [b"a\0b", b"\xff\xfe", b"caf\xe9", b"ok \xf0\x9f"])
async def test_read_refuses_what_is_no_text(folder: Path, context: ToolContext, data: bytes) -> None:
    (folder / "b").write_bytes(data)
    outcome = await Read().run({"path": "b"}, context)
    assert outcome["t"] == "error"
    assert "not a text file" in outcome["message"]


async def test_write_tells_what_it_did(folder: Path, context: ToolContext) -> None:
    outcome = await Write().run({"path": "./a/../b/c.txt", "content": "é"}, context)
    assert outcome == {"t": "ok", "value": {"path": "b/c.txt", "bytes": 2, "created": True}}
    assert (folder / "b/c.txt").read_text() == "é"
    assert not (folder / "a").exists()
    assert (await Write().run({"path": "b/c.txt", "content": ""}, context))["value"]["created"] is False


async def test_write_refuses_what_no_file_can_hold(folder: Path, context: ToolContext) -> None:
    outcome = await Write().run({"path": "a", "content": "\ud800"}, context)
    assert outcome["t"] == "error"
    assert list(folder.iterdir()) == []


async def test_edit_replaces_exactly_one(folder: Path, context: ToolContext) -> None:
    (folder / "a").write_bytes(b"one\r\ntwo (one)\n")
    outcome = await Edit().run({"path": "a", "old": "(one)", "new": r"\1"}, context)
    assert outcome == {"t": "ok", "value": {"path": "a", "replaced": 1}}
    assert (folder / "a").read_bytes() == b"one\r\ntwo \\1\n"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("x", "y", "holds the text 3 times"), ("z", "y", "does not hold"), ("x", "x", "same text"), ("", "y", "at least")],
)
async def test_edit_leaves_the_file_alone_where_it_cannot_tell(
    folder: Path, context: ToolContext, old: str, new: str, words: str
) -> None:
    (folder / "a").write_text("x x x")
    outcome = await Edit().run({"path": "a", "old": old, "new": new}, context)
    assert words in outcome["message"]
    assert (folder / "a").read_text() == "x x x"


async def test_edit_of_all(folder: Path, context: ToolContext) -> None:
    (folder / "a").write_text("x x x")
    outcome = await Edit().run({"path": "a", "old": "x", "new": "xx", "all": True}, context)
    assert outcome["value"]["replaced"] == 3
    assert (folder / "a").read_text() == "xx xx xx"


async def test_edit_refuses_binary_and_missing_files(folder: Path, context: ToolContext) -> None:
    (folder / "b").write_bytes(b"x\xff")
    assert "UTF-8" in (await Edit().run({"path": "b", "old": "x", "new": "y"}, context))["message"]
    assert "no such file" in (await Edit().run({"path": "c", "old": "x", "new": "y"}, context))["message"]


@pytest.mark.parametrize("tool", builtin_tools().values(), ids=lambda tool: tool.name)
@pytest.mark.parametrize(
    "input",
    [None, "text", 1, [], {}, {"path": 1, "command": 1, "pattern": 1}, {"x\u202e": 1}, {"path": "a", "offset": True}],
)
async def test_an_input_of_the_wrong_shape_is_an_error_outcome(context: ToolContext, tool: Tool, input: Any) -> None:
    outcome = await tool.run(input, context)
    assert outcome["t"] == "error"
    assert outcome["message"].startswith("the input")


async def test_all_that_is_wrong_with_an_input_is_said_at_once(context: ToolContext) -> None:
    outcome = await Read().run({"pth": "a", "offset": 0, "limit": "3"}, context)
    assert outcome["message"] == (
        "the input: 'path' is missing; there is no 'pth'; the keys are path, offset, limit; "
        "'offset' must be at least 1; 'limit' must be a whole number"
    )
