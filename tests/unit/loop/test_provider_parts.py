"""Tool names, server-sent events and the scripted provider."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery_interceptors.loop.arguments import parse_arguments
from orrery_interceptors.loop.conversation import Conversation, MadeCall, ToolCall
from orrery_interceptors.loop.provider import Request, ScriptedProvider
from orrery_interceptors.loop.provider.sse import EventReader
from orrery_interceptors.loop.provider.toolnames import ToolNames
from orrery_interceptors.loop.session import Answer, ScriptedTurn
from orrery_interceptors.points import Site

ODD = ["builtin.bash", "builtin_bash", "builtin-bash", "a" * 65, "a" * 66, "é", "è", "", ".", "_", "x.y", "X.Y"]


def test_names_go_out_fit_for_the_wire_and_come_back_as_they_were() -> None:
    names = ToolNames(ODD)
    wire = {name: names.to_wire(name) for name in ODD}
    assert len(set(wire.values())) == len(ODD)
    assert wire["builtin_bash"] == "builtin_bash"
    for name, sent in wire.items():
        assert 1 <= len(sent) <= 64
        assert sent.isascii()
        assert set(sent) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
        assert names.from_wire(sent) == name


def test_a_name_that_was_never_offered_stands_for_itself() -> None:
    assert ToolNames(["builtin.bash"]).from_wire("builtin_read") == "builtin_read"
    assert ToolNames(["builtin.bash"]).from_wire("builtin_bash") == "builtin.bash"


@given(st.lists(st.text(max_size=70), unique=True))
def test_no_two_tools_share_a_name(every: list[str]) -> None:
    names = ToolNames(every)
    assert [names.from_wire(names.to_wire(name)) for name in every] == every
    assert len({names.to_wire(name) for name in every}) == len(every)


def test_tool_choice_speaks_of_the_name_on_the_wire() -> None:
    names = ToolNames(["builtin.bash"])
    choice = {"type": "function", "function": {"name": "builtin.bash"}}
    assert names.choice_to_wire(choice) == {"type": "function", "function": {"name": "builtin_bash"}}
    assert choice["function"] == {"name": "builtin.bash"}
    for other in ("auto", None, {"function": {"name": "x"}}, {"function": []}, {"function": {"name": ["x"]}}):
        assert names.choice_to_wire(other) == other


STREAM = (
    b": hi\n\ndata: one\n\nevent: x\r\ndata:two\r\ndata:  three\r\n\r\n:keep-alive\rdata: \xf0\x9f\xa6\x80\r\rdata\n\n"
)
EVENTS = [b"one", b"two\n three", "🦀".encode(), b""]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_the_same_however_the_bytes_are_cut(size: int) -> None:
    reader = EventReader()
    chunks = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert [data for chunk in chunks for data in reader.feed(chunk)] == EVENTS
    assert list(reader.end()) == []


def test_the_last_event_may_lack_its_blank_line() -> None:
    reader = EventReader()
    assert list(reader.feed(b"data: one")) == []
    assert list(reader.end()) == [b"one"]


def test_a_long_line_in_many_chunks_takes_linear_time() -> None:
    reader = EventReader()
    for _ in range(20_000):
        assert list(reader.feed(b"data:" + b"x" * 100)) == []
    (data,) = reader.end()
    assert len(data) == 20_000 * 105 - 5


@pytest.mark.parametrize(
    ("text", "value"),
    [("", {}), (" ", {}), ("{}", {}), ('{"n":9007199254740993}', {"n": 2**53 + 1}), ("{'a':1}", "{'a':1}"), ("1", 1)],
)
def test_arguments(text: str, value: object) -> None:
    assert parse_arguments(text) == value


@pytest.mark.anyio
async def test_a_script_answers_by_turn_and_then_no_more() -> None:
    call = ToolCall("c", "t", {})
    provider = ScriptedProvider(
        [ScriptedTurn("a", (Answer("1", (call,)), Answer("2"))), ScriptedTurn("b", (Answer("3"),))]
    )

    async def ask(turn: int) -> str | None:
        response = await provider.complete(Request(Site(turn=turn), "m", {}, "", ()))
        return None if response is None else response.text

    # The second turn's answers are its own, also when the first turn did not use up all of its.
    assert [await ask(1), await ask(2), await ask(2), await ask(1), await ask(1), await ask(3)] == [
        "1", "3", None, "2", None, None,
    ]  # fmt: skip


def test_a_conversation_gives_every_call_an_id_of_its_own() -> None:
    conversation = Conversation()
    calls = [ToolCall(id, "t", {}) for id in ("call_0", "", "call_0", "", "call_0-2")]
    assert [call.id for call in conversation.named(calls)] == ["call_0", "call", "call_0-2", "call-2", "call_0-2-2"]


def test_a_call_stands_with_the_input_it_ran_with_and_it_is_said_who_changed_it() -> None:
    conversation = Conversation()
    conversation.hear("push it")
    made = MadeCall(ToolCall("c", "builtin.bash", {"command": "git push -f"}), {"command": "git push"},
                    {"t": "ok", "value": "done", "exit": 1}, ("acme-guard",))  # fmt: skip
    conversation.say("ok", [made])
    assert conversation.messages() == [
        {"role": "user", "content": "push it"},
        {"role": "assistant", "content": "ok",
         "tool_calls": [{"id": "c", "tool": "builtin.bash", "input": {"command": "git push"}}]},
        {"role": "tool", "tool_call_id": "c", "tool": "builtin.bash",
         "content": "[the input of this call was changed by acme-guard]\ndone\n[exit status 1]"},
    ]  # fmt: skip
