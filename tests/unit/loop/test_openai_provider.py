"""An OpenAI-compatible endpoint is asked, streamed or not, and every wrong answer is one clear error."""

from __future__ import annotations

import email.utils
import gzip
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from orrery_interceptors.errors import ProviderError
from orrery_interceptors.loop.conversation import ToolCall
from orrery_interceptors.loop.provider import OfferedTool, OpenAIProvider, Request, Response, Usage
from orrery_interceptors.loop.provider import openai as module
from orrery_interceptors.loop.provider.openai import MAX_WAIT_SECONDS
from orrery_interceptors.points import Site

from .endpoint import Endpoint, Reply, delta, endpoint, events, message

pytestmark = pytest.mark.anyio
KEY = "sk-very-secret"
BASH = OfferedTool("builtin.bash", {"type": "object", "description": "Runs.", "properties": {}})
BIG = 2**53 + 1


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with endpoint() as made:
        yield made


class Waits(list[float]):
    """A sleep that takes no time and is written down."""

    async def sleep(self, seconds: float) -> None:
        self.append(seconds)


def request(**members: Any) -> Request:
    whole = {"options": {"temperature": 0.5}, "system": "Be brief.", "messages": ({"role": "user", "content": "hi"},)}
    return Request(Site(), "m", **{**whole, "tools": (BASH,), **members})


async def ask(server: Endpoint, *replies: Reply, waits: Waits | None = None, **options: Any) -> Response:
    server.replies += replies
    sleep = (waits if waits is not None else Waits()).sleep
    async with OpenAIProvider(server.url, KEY, sleep=sleep, **{"timeout_seconds": 20, **options}) as provider:
        return await provider.complete(request())


async def test_a_request_holds_what_was_decided_and_nothing_of_ours(server: Endpoint) -> None:
    calls = [{"id": "c1", "tool": "builtin.bash", "input": {"n": BIG}}, {"id": "c2", "tool": "gone.tool", "input": "x"}]
    messages = (
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "tool": "builtin.bash", "content": {"a": BIG}},
        {"role": "tool", "tool_call_id": "c2", "tool": "gone.tool", "content": None},
    )
    server.replies.append(message())
    choice = {"type": "function", "function": {"name": "builtin.bash"}}
    async with OpenAIProvider(server.url + "/", KEY) as provider:
        await provider.complete(request(messages=messages, options={"seed": BIG, "tool_choice": choice}))
    ((path, headers, body),) = server.asked
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "m",
        "seed": BIG,
        "tool_choice": {"type": "function", "function": {"name": "builtin_bash"}},
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "builtin_bash", "arguments": f'{{"n":{BIG}}}'}},
                {"id": "c2", "type": "function", "function": {"name": "gone_tool", "arguments": '"x"'}},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": f'{{"a":{BIG}}}'},
            {"role": "tool", "tool_call_id": "c2", "content": None},
        ],
        "tools": [{"type": "function", "function": {
            "name": "builtin_bash", "description": "Runs.", "parameters": {"type": "object", "properties": {}}}}],
    }  # fmt: skip


async def test_without_a_key_a_system_prompt_or_tools_nothing_stands_for_them(server: Endpoint) -> None:
    server.replies.append(message())
    async with OpenAIProvider(server.url) as provider:
        await provider.complete(request(system="", tools=(), options={}))
    ((_, headers, body),) = server.asked
    assert "authorization" not in headers
    assert body == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize("name", ["messages", "tools", "model", "stream", "prompt", "system"])
async def test_an_option_cannot_go_past_the_context_builder(server: Endpoint, name: str) -> None:
    async with OpenAIProvider(server.url, KEY) as provider:
        with pytest.raises(ProviderError, match=name):
            await provider.complete(request(options={name: []}))
    assert server.asked == []


async def test_an_option_that_has_no_json_text_is_not_sent(server: Endpoint) -> None:
    async with OpenAIProvider(server.url, KEY) as provider:
        with pytest.raises(ProviderError, match="cannot be written"):
            await provider.complete(request(options={"temperature": float("nan")}))


async def test_a_whole_answer(server: Endpoint) -> None:
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "builtin_bash", "arguments": f'{{"n":{BIG}}}'}},
        {"id": "c2", "type": "function", "function": {"name": "made_up", "arguments": "not json"}},
        {"type": "function", "function": {"name": "builtin_bash", "arguments": ""}},
    ]
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    response = await ask(server, message("text", calls, usage=usage))
    assert response == Response(
        "text",
        (
            ToolCall("c1", "builtin.bash", {"n": BIG}),
            ToolCall("c2", "made_up", "not json"),
            ToolCall("", "builtin.bash", {}),
        ),
        Usage(7, 3),
        "stop",
    )


async def test_a_streamed_answer_is_put_together(server: Endpoint) -> None:
    def call(index: int, **function: str) -> dict[str, Any]:
        return {"index": index, **({"id": f"c{index}"} if "name" in function else {}), "function": function}

    response = await ask(
        server,
        events(
            b": keep-alive\n\n",
            delta(role="assistant", content="a"),
            delta(content="b🦀"),
            b": keep-alive\r\n\r\n",
            delta(tool_calls=[call(0, name="builtin_bash", arguments="")]),
            delta(tool_calls=[call(0, arguments='{"n":90071')]),
            delta(tool_calls=[call(1, name="other", arguments="{}"), call(0, arguments="99254740993}")]),
            delta("tool_calls"),
            {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
        ),
        stream=True,
    )
    assert response == Response(
        "ab🦀",
        (ToolCall("c0", "builtin.bash", {"n": BIG}), ToolCall("c1", "other", {})),
        Usage(5, 2),
        "tool_calls",
    )
    assert server.bodies[0]["stream"] is True
    assert server.bodies[0]["stream_options"] == {"include_usage": True}


async def test_streamed_calls_without_an_index_are_told_apart_by_their_ids(server: Endpoint) -> None:
    response = await ask(
        server,
        events(
            delta(tool_calls=[{"id": "a", "function": {"name": "t", "arguments": '{"x":'}}]),
            delta(tool_calls=[{"function": {"arguments": "1}"}}]),
            delta(tool_calls=[{"id": "b", "function": {"name": "t", "arguments": "{}"}}]),
            delta(tool_calls=[{"id": "a", "function": {"name": "t", "arguments": ""}}]),
            delta("tool_calls"),
        ),
        stream=True,
    )
    assert response.calls == (ToolCall("a", "t", {"x": 1}), ToolCall("b", "t", {}))


async def test_a_stream_that_ended_needs_no_done_and_an_endpoint_need_not_stream(server: Endpoint) -> None:
    assert (await ask(server, events(delta("stop", content="x"), done=False), stream=True)).text == "x"
    assert (await ask(server, message("y"), stream=True)).text == "y"
    last = events(delta("stop", content="z"), b"data: [DONE]", done=False)
    assert (await ask(server, last, stream=True)).text == "z"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(b""), "not JSON"),
        (Reply(b"<html>"), "not JSON"),
        (Reply(b"[]"), "not a JSON object"),
        (Reply(b"{}"), "no choices"),
        (Reply(b'{"choices":[]}'), "no choices"),
        (Reply(b'{"choices":[{}]}'), "no choices"),
        (Reply(b'{"choices":[7]}'), "no choices"),
        (Reply(b'{"choices":{"a":1}}'), "no choices"),
        (Reply(b'{"error":{"message":"out of luck"}}'), "out of luck"),
        (Reply(b'{"error":"out of luck"}'), "out of luck"),
        (Reply(b'{"a":1,"a":2}'), "stands twice"),
        (Reply(b'{"a":NaN}'), "NaN"),
        (Reply(b"\xff"), "not UTF-8"),
        (Reply(b"[" * 100_000), "not JSON|depth limit"),
        (message(None, [7]), "tool call that is none"),
        (message(None, [{"function": "x"}]), "tool call that is none"),
        (message(None, [{"id": "c", "function": {"arguments": "{}"}}]), "without a name"),
        (Reply(b"{", cut=True), "connection to"),
        (events(delta(content="x"), done=False), "cut off"),
        (events(done=False), "cut off"),
        (events(delta(content="x"), b'data: {"choices": [{"del', done=False), "not JSON"),
        (events(b"data: oops\n\n"), "not JSON"),
        (events(delta(content="x"), {"error": {"message": "overloaded"}}), "overloaded"),
        (Reply(b"no", 400), "answered 400: no"),
        (Reply(b"", 404), "answered 404: nothing"),
        (Reply(b"", 302, {"location": "http://127.0.0.1:9/elsewhere"}), "answered 302"),
    ],
)  # fmt: skip
async def test_a_wrong_answer_is_one_clear_error(server: Endpoint, reply: Reply, words: str) -> None:
    with pytest.raises(ProviderError, match=words) as caught:
        await ask(server, reply)
    assert caught.value.status == (reply.status if reply.status != 200 else None)
    assert len(server.asked) == 1


async def test_an_answer_without_end_is_not_read_to_its_end(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ANSWER_BYTES", 100_000)
    bomb = Reply(gzip.compress(b" " * 10_000_000), headers={"content-encoding": "gzip"})
    with pytest.raises(ProviderError, match="larger than"):
        await ask(server, bomb)
    with pytest.raises(ProviderError, match="larger than"):
        await ask(server, events(*[b": x\n\n"] * 50_000), stream=True)
    with pytest.raises(ProviderError, match="answered 400"):
        await ask(server, Reply(b"x" * 1_000_000, 400))


@pytest.mark.parametrize(
    "reply",
    [
        Reply(f"bad key {KEY}".encode(), 401),
        Reply(f"<{KEY}>".encode(), 500),
        Reply(json.dumps({"error": {"message": f"no {KEY}"}}).encode()),
        events({"error": KEY}),
    ],
)
async def test_the_key_is_in_no_message_even_if_the_endpoint_quotes_it(server: Endpoint, reply: Reply) -> None:
    with pytest.raises(ProviderError) as caught:
        await ask(server, reply, retries=0)
    assert KEY not in str(caught.value)
    assert "[key]" in str(caught.value)
    assert KEY not in repr(caught.getrepr(chain=True))


async def test_what_an_endpoint_says_cannot_move_the_cursor(server: Endpoint) -> None:
    with pytest.raises(ProviderError) as caught:
        await ask(server, Reply("\x1b[2J\u202eevil\n\n".encode() + b"x" * 5000, 400))
    assert str(caught.value).isprintable()
    assert len(str(caught.value).encode()) <= 500


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
async def test_a_busy_endpoint_is_asked_again(server: Endpoint, status: int) -> None:
    waits = Waits()
    response = await ask(server, Reply(b"busy", status), Reply(b"busy", status), message("at last"), waits=waits)
    assert response.text == "at last"
    assert waits == [0.5, 1.0]


async def test_it_gives_up_in_the_end(server: Endpoint) -> None:
    with pytest.raises(ProviderError, match="answered 503: busy") as caught:
        await ask(server, *[Reply(b"busy", 503)] * 3)
    assert (caught.value.status, len(server.asked)) == (503, 3)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("86400", MAX_WAIT_SECONDS),
        ("9" * 400, MAX_WAIT_SECONDS),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        (email.utils.formatdate(time.time() + 3600, usegmt=True), MAX_WAIT_SECONDS),
        ("soon", 0.5),
        ("-3", 0.5),
    ],
)
async def test_retry_after_is_heeded_within_bounds(server: Endpoint, value: str, wait: float) -> None:
    waits = Waits()
    await ask(server, Reply(b"", 429, {"retry-after": value}), message(), waits=waits)
    assert waits == [wait]


async def test_no_answer_in_time_is_an_error(server: Endpoint) -> None:
    with anyio.fail_after(10):
        with pytest.raises(ProviderError, match=r"no answer from 127\.0\.0\.1:\d+ within 0\.2 seconds"):
            await ask(server, Reply(hold=True), timeout_seconds=0.2)
    assert len(server.asked) == 1


async def test_an_endpoint_that_is_not_there_is_asked_again_and_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        waits = Waits()
        async with OpenAIProvider(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", KEY, sleep=waits.sleep) as provider:
            with pytest.raises(ProviderError, match="cannot be reached"):
                await provider.complete(request())
    assert len(waits) == 2


@pytest.mark.parametrize(
    "url", ["", "localhost:8080", "ftp://x", "http://", "http://user:pass@x/v1", "http://[", "file:///x"]
)
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ProviderError, match="base URL"):
        OpenAIProvider(url)


@pytest.mark.parametrize("key", ["", "a b", "sk-x\n", "sk-é"])
def test_a_key_that_is_none_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ProviderError) as caught:
        OpenAIProvider("http://x/v1", key)
    assert not key.strip() or key.strip() not in str(caught.value)
