"""OpenAI-style conversations become sessions that replay them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orrery_interceptors.errors import SessionError
from orrery_interceptors.jsontext import dumps
from orrery_interceptors.loop.chatimport import Imported, import_chat
from orrery_interceptors.loop.session import Session, parse_session

CORPUS = Path(__file__).parents[3].parent / "shared" / "corpus" / "payloads"


def call(name: str, arguments: str, id: str = "call_1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def convert(chat: Any, **options: Any) -> Imported:
    return import_chat(json.dumps(chat).encode(), "chat.json", **options)


def session_of(imported: Imported) -> Session:
    return parse_session("\n".join(map(dumps, imported.lines)).encode())


CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": [{"type": "text", "text": "No jokes."}]},
    {"role": "user", "content": "list"},
    {"role": "assistant", "content": None, "tool_calls": [call("bash", '{"command": "ls", "n": 1152921504606846977}')]},
    {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"},
    {"role": "assistant", "content": "one file"},
    {"role": "user", "content": "thanks"},
]


def test_a_request_becomes_a_session() -> None:
    chat = {"model": "m", "messages": CHAT, "temperature": 0.2, "stream": True, "tool_choice": "auto"}
    imported = convert(chat, names={"bash": "builtin.bash"})
    assert imported.notes == ()
    assert imported.lines == [
        {
            "t": "session",
            "v": 1,
            "model": "m",
            "system": [{"id": "system", "text": "Be brief."}, {"id": "developer-2", "text": "No jokes."}],
            "options": {"temperature": 0.2, "tool_choice": "auto"},
        },
        {"t": "user", "text": "list"},
        {
            "t": "assistant",
            "text": "",
            "calls": [{"id": "call_1", "tool": "builtin.bash", "input": {"command": "ls", "n": 1152921504606846977}}],
        },
        {"t": "tool", "call": "call_1", "outcome": {"t": "ok", "value": "a.txt"}},
        {"t": "assistant", "text": "one file"},
        {"t": "user", "text": "thanks"},
    ]
    assert len(session_of(imported).turns) == 2


def test_an_array_and_json_lines_of_messages_are_read_too() -> None:
    lines = convert(CHAT).lines
    assert import_chat("\n".join(map(json.dumps, CHAT)).encode()).lines == lines
    assert import_chat(json.dumps(CHAT[2]).encode()).lines[1:] == [{"t": "user", "text": "list"}]


def test_live_leaves_the_outcomes_out() -> None:
    assert not [line for line in convert(CHAT, live=True).lines if line["t"] == "tool"]


def test_a_call_without_an_answer_does_not_run_in_a_replay() -> None:
    imported = convert(CHAT[:4])
    assert session_of(imported).recorded == {"call_1": {"t": "cancelled"}}
    assert "has no answer" in imported.notes[0].what
    assert session_of(convert(CHAT[:4], live=True)).recorded == {}


@pytest.mark.parametrize(
    ("arguments", "value", "noted"),
    [
        ("", {}, False),
        ("{}", {}, False),
        ('"text"', "text", False),
        ("ls -la", "ls -la", True),
        ('{"a":1,"a":2}', '{"a":1,"a":2}', True),
        ('{"a":NaN}', '{"a":NaN}', True),
        ("[1]", [1], False),
    ],
)
def test_arguments_that_are_not_json_stay_a_string_and_it_is_said(arguments: str, value: Any, noted: bool) -> None:
    imported = convert(
        [
            {"role": "user", "content": "x"},
            {"role": "assistant", "tool_calls": [call("t", arguments)]},
            {"role": "tool", "tool_call_id": "call_1", "content": ""},
        ]
    )
    assert imported.lines[2]["calls"][0]["input"] == value
    assert [note.key for note in imported.notes] == (["messages[1].tool_calls[0]"] if noted else [])


def test_ids_that_are_counted_anew_are_told_apart() -> None:
    turn = CHAT[2:6]
    session = session_of(convert([*turn, *turn]))
    assert list(session.recorded) == ["call_1", "call_1-2"]


def test_what_is_lost_is_said() -> None:
    imported = convert(
        {
            "messages": [
                {"role": "assistant", "content": "Hello!"},
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}]},
                {"role": "user", "content": "b", "name": "Ada"},
                {"role": "assistant", "content": "c", "reasoning_content": "hm"},
                {"role": "assistant", "refusal": "no"},
                {"role": "tool", "tool_call_id": "nowhere", "content": "x"},
                {"role": "system", "content": "late"},
            ],
            "tools": [{"type": "function", "function": {"name": "t"}}],
        }
    )
    assert [(note.key, note.what.split(":")[0].split(",")[0]) for note in imported.notes] == [
        ("messages[0]", "an answer before the user's first message is left out"),
        ("messages[1]", "a part that is no text (image_url) is left out"),
        ("messages[2]", "left out"),
        ("messages[2]", "was joined to the user's message before it"),
        ("messages[3]", "left out"),
        ("messages[4]", "a refusal stands as the answer's text"),
        ("messages[4]", "was joined to the answer before it"),
        ("messages[5]", "answers no call that was made"),
        ("messages[6]", "a system message in mid-conversation stands with the others"),
        ("tools", "which tools there were is not part of a session; those of the loop are offered"),
    ]
    (turn,) = session_of(imported).turns
    assert (turn.text, turn.answers[0].text) == ("a\n\nb", "c\n\nno")


@pytest.mark.parametrize(
    ("data", "key", "what"),
    [
        (b"", None, "empty"),
        (b"{", None, "not JSON"),
        (b"3", None, "is neither"),
        (b'{"messages": {}}', "messages", "no array"),
        (b'[{"role": "wizard"}]', "messages[0].role", "'wizard' is none of"),
        (b'["x"]', "messages[0]", "must be an object"),
        (b'[{"role": "user", "content": 3}]', "messages[0]", "content must be"),
        (b'[{"role":"user"},{"role":"assistant","tool_calls":[{"id":"a"}]}]', "messages[1].tool_calls[0]", "a call"),
        (b'{"role":"user"}\n{"role":\n', None, "not JSON"),
        (b'{"a":1,"a":2}', None, "stands twice"),
    ],
)
def test_what_is_no_conversation_is_refused(data: bytes, key: str | None, what: str) -> None:
    with pytest.raises(SessionError) as caught:
        import_chat(data, "chat.json")
    (problem,) = caught.value.problems
    assert (problem.file, problem.key) == ("chat.json", key)
    assert what in problem.what


TEXT = st.none() | st.text() | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": st.text()}), max_size=2)
IDS = st.sampled_from(["", "a", "b", None])
CALLS = st.lists(st.builds(lambda id, arguments: call("t", arguments, id), IDS, st.text(max_size=5)), max_size=3)
MESSAGES = st.lists(
    st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["system", "user"]), TEXT)
    | st.builds(lambda text, calls: {"role": "assistant", "content": text, "tool_calls": calls}, TEXT, CALLS)
    | st.builds(lambda id, text: {"role": "tool", "tool_call_id": id, "content": text}, IDS, TEXT),
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(MESSAGES, st.booleans())
def test_every_conversation_becomes_a_session_that_can_be_read(messages: list[Any], live: bool) -> None:
    imported = convert(messages, live=live)
    session = session_of(imported)
    calls = {call.id for turn in session.turns for answer in turn.answers for call in answer.calls}
    assert set(session.recorded) == (set() if live else calls)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_recorded_requests_become_sessions() -> None:
    files = sorted(CORPUS.glob("provider-openai-chat-*.json")) + sorted(CORPUS.glob("authored-chat-*.json"))
    assert len(files) >= 5
    for file in files:
        assert session_of(import_chat(file.read_bytes(), file)).turns
