"""What a session file may hold, and what is said of one that does not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orrery_interceptors.errors import Problem, SessionError
from orrery_interceptors.loop import session as module
from orrery_interceptors.loop.conversation import ToolCall
from orrery_interceptors.loop.session import Answer, ScriptedTurn, parse_session, read_session

HEADER = {"t": "session", "v": 1}
USER = {"t": "user", "text": "hi"}


def lines(*values: Any) -> bytes:
    return b"".join((value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n" for value in values)


def problems(*values: Any) -> tuple[Problem, ...]:
    with pytest.raises(SessionError) as caught:
        parse_session(lines(*values), "s.jsonl")
    return caught.value.problems


def test_a_session_with_everything() -> None:
    session = parse_session(
        lines(
            {**HEADER, "id": "s1", "agent": "main", "model": "m", "options": {"temperature": 0.5},
             "system": [{"id": "intro", "text": "Be brief."}, {"id": "rules", "text": ""}]},
            {"t": "memory", "text": "we deploy on Fridays", "meta": {"tags": ["ops"], "n": 2**60 + 1}},
            {"t": "file", "path": "a.txt", "text": "a"},
            USER,
            {"t": "assistant", "text": "Let me look.", "calls": [
                {"id": "c1", "tool": "builtin.bash", "input": {"command": "ls", "n": 2**60 + 1}},
                {"id": "c2", "tool": "builtin.read", "input": None},
            ]},
            {"t": "tool", "call": "c1", "outcome": {"t": "ok", "value": "a.txt", "exit": 0}},
            {"t": "assistant", "text": "Done."},
            {"t": "user", "text": "thanks"},
        )
    )  # fmt: skip
    assert (session.id, session.agent, session.model, session.options) == ("s1", "main", "m", {"temperature": 0.5})
    assert session.sections == ({"id": "intro", "text": "Be brief."}, {"id": "rules", "text": ""})
    assert session.turns == (
        ScriptedTurn(
            "hi",
            (
                Answer(
                    "Let me look.",
                    (
                        ToolCall("c1", "builtin.bash", {"command": "ls", "n": 2**60 + 1}),
                        ToolCall("c2", "builtin.read", None),
                    ),
                ),
                Answer("Done."),
            ),
        ),
        ScriptedTurn("thanks"),
    )
    assert session.recorded == {"c1": {"t": "ok", "value": "a.txt", "exit": 0}}
    assert [(memory.id, memory.text, memory.meta["n"]) for memory in session.memories] == [
        (None, "we deploy on Fridays", 2**60 + 1)
    ]
    assert [(file.path, file.text) for file in session.files] == [("a.txt", "a")]


def test_a_text_is_one_system_section_and_blank_lines_and_line_ends_do_not_matter() -> None:
    session = parse_session(b'\r\n{"t":"session","v":1,"system":"Be brief."}\r\n\n  \n{"t":"user","text":"hi"}')
    assert session.sections == ({"id": "system", "text": "Be brief."},)
    assert session.turns == (ScriptedTurn("hi"),)


@pytest.mark.parametrize(
    ("values", "line", "key", "what"),
    [
        ([], 1, None, "is empty"),
        ([b"", b"  "], 1, None, "is empty"),
        ([USER], 1, None, "the first line must be the session's header"),
        ([HEADER, HEADER], 2, None, "second header"),
        ([{**HEADER, "v": 2}], 1, "v", "must be 1, not 2"),
        ([{"t": "session"}], 1, "v", "is missing"),
        ([{**HEADER, "sytem": "x"}], 1, "sytem", "unknown key"),
        ([{**HEADER, "system": 3}], 1, "system", "must be a text or an array of sections"),
        ([{**HEADER, "system": [{"id": "a"}]}], 1, "system[0].text", "is missing"),
        ([{**HEADER, "system": [{"id": "a", "text": ""}, {"id": "a", "text": ""}]}], 1, "system", "two sections 'a'"),
        ([{**HEADER, "options": []}], 1, "options", "must be an object"),
        ([HEADER, {"t": "usr", "text": "x"}], 2, "t", "is not a kind of line"),
        ([HEADER, {"t": ["user"]}], 2, "t", "is not a kind of line"),
        ([HEADER, {"text": "x"}], 2, "t", "is missing"),
        ([HEADER, []], 2, None, "must be a JSON object"),
        ([HEADER, {"t": "user"}], 2, "text", "is missing"),
        ([HEADER, {"t": "user", "text": 1}], 2, "text", "must be a string"),
        ([HEADER, USER, {"t": "assistant"}], 3, None, "neither says anything nor calls a tool"),
        ([HEADER, USER, {"t": "assistant", "calls": [{"id": "a", "input": 1}]}], 3, "calls[0].tool", "is missing"),
        ([HEADER, {"t": "assistant", "text": "x"}], 2, None, "before the first message of the user"),
        ([HEADER, USER, {"t": "assistant", "text": ""}, {"t": "assistant", "text": ""}], 4, None, "is never asked for"),
        ([HEADER, {"t": "tool", "call": "c", "outcome": {"t": "cancelled"}}], 2, "call", "no answer makes a call 'c'"),
        ([HEADER, {"t": "tool", "call": "c", "outcome": {"t": "done"}}], 2, "outcome", "/t must be one of"),
        ([HEADER, {"t": "tool", "call": "c", "outcome": {"t": "ok"}}], 2, "outcome", "an outcome 'ok' has a 'value'"),
        ([HEADER, {"t": "memory", "text": ""}], 2, "text", "must not be empty"),
        ([HEADER, *[{"t": "memory", "id": "m", "text": "x"}] * 2], 3, "id", "'m' stands in line 2 already"),
        ([HEADER, *[{"t": "file", "path": "a", "text": "x"}] * 2], 3, "path", "'a' stands in line 2 already"),
        ([HEADER, b'{"t":"user","text":NaN}'], 2, None, "NaN is not JSON"),
        ([HEADER, b'{"t":"user","text":"a","text":"b"}'], 2, None, "'text' stands twice"),
        ([HEADER, b'{"t":"user","text":"\\ud800"}'], 2, "/text", "lone surrogate"),
        ([HEADER, b'{"t":"user","text":"\xff"}'], 2, None, "not UTF-8"),
        ([HEADER, b'{"t":"user","text":' + b"[" * 10_000 + b"]" * 10_000 + b"}"], 2, None, "depth limit"),
        ([b"\xef\xbb\xbf" + lines(HEADER).strip()], 1, None, "byte order mark"),
        ([HEADER, b'{"t":"user"'], 2, None, "not JSON"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line_and_key(values: list[Any], line: int, key: str | None, what: str) -> None:
    (problem,) = problems(*values)
    assert (problem.file, problem.line, problem.key) == ("s.jsonl", line, key)
    assert what in problem.what


def test_a_call_id_stands_once_in_the_file() -> None:
    answer = {"t": "assistant", "calls": [{"id": "c", "tool": "x", "input": 1}]}
    outcome = {"t": "tool", "call": "c", "outcome": {"t": "ok", "value": 1}}
    (twice,) = problems(HEADER, USER, answer, USER, answer)
    assert (twice.line, twice.key) == (5, "calls[0].id")
    (again,) = problems(HEADER, USER, answer, outcome, outcome)
    assert (again.line, again.key) == (5, "call")


def test_all_problems_are_said_at_once_in_the_order_of_lines() -> None:
    found = problems({**HEADER, "x": 1, "options": 1}, {"t": "user"}, b"nonsense", {"t": "memory", "text": 1, "id": ""})
    assert [problem.line for problem in found] == [1, 1, 2, 3, 4, 4]


def test_a_broken_line_gives_no_false_problems_elsewhere() -> None:
    outcome = {"t": "tool", "call": "c", "outcome": {"t": "cancelled"}}
    (only,) = problems(HEADER, {"t": "user", "txt": "x", "text": ""}, {"t": "assistant", "text": "x"}, outcome)
    assert only.line == 2


def test_it_stops_after_twenty_problems() -> None:
    assert len(problems(HEADER, *[b"nonsense"] * 100)) == module.MAX_PROBLEMS


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 1024 * 1024)
    path = tmp_path / "s.jsonl"
    path.write_bytes(b" " * (1024 * 1024 + 1))
    with pytest.raises(SessionError, match="larger than 1 MiB"):
        read_session(path)


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, what in (
        (tmp_path, "is a directory"),
        (tmp_path / "fifo", "is not a file"),
        (tmp_path / "no", "no such"),
    ):
        with pytest.raises(SessionError, match=what) as caught:
            read_session(path)
        assert caught.value.problems[0].file == path


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)  # fmt: skip  # noqa: E501
TAGGED = st.fixed_dictionaries(
    {"t": st.sampled_from(["session", "user", "assistant", "tool", "memory", "file"])},
    optional=dict.fromkeys(("v", "id", "text", "calls", "call", "outcome", "path", "meta", "system", "options"), JSON),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(TAGGED, max_size=6))
def test_any_lines_are_a_session_or_a_session_error(values: list[Any]) -> None:
    try:
        parse_session(lines({"t": "session", "v": 1}, *values))
    except SessionError as error:
        assert error.problems


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_session_or_a_session_error(data: bytes) -> None:
    try:
        parse_session(data)
    except SessionError as error:
        assert error.problems
