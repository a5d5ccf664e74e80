"""The chat-completions format of OpenAI-compatible endpoints: requests written, answers read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...errors import ProviderError
from ...jsontext import Json, JsonError, dumps, loads
from ..arguments import parse_arguments
from ..conversation import Message, ToolCall
from .base import OfferedTool, Request, Response, Usage
from .reserved import RESERVED
from .toolnames import ToolNames


def names_of(request: Request) -> ToolNames:
    """Names for every tool that the request offers or speaks of."""
    spoken_of = (call["tool"] for message in request.messages for call in message.get("tool_calls") or ())
    return ToolNames([*(tool.name for tool in request.tools), *spoken_of])


def request_body(request: Request, names: ToolNames, *, stream: bool) -> dict[str, Json]:
    """The body of a request. Raises `ProviderError` where an option would go past the context builder."""
    if taken := sorted(RESERVED & request.options.keys()):
        raise ProviderError(f"{', '.join(taken)} cannot be given as an option: it is part of the request itself")
    body: dict[str, Json] = {"model": request.model, "messages": list(_messages(request, names)), **request.options}
    if "tool_choice" in body:
        body["tool_choice"] = names.choice_to_wire(body["tool_choice"])
    if request.tools:
        body["tools"] = [_tool(tool, names) for tool in request.tools]
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def _messages(request: Request, names: ToolNames) -> Iterator[Json]:
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        written: Message = {"role": message["role"], "content": _content(message.get("content"))}
        if calls := message.get("tool_calls"):
            written["content"] = written["content"] or None
            written["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": names.to_wire(call["tool"]), "arguments": dumps(call["input"])},
                }
                for call in calls
            ]
        if "tool_call_id" in message:
            written["tool_call_id"] = message["tool_call_id"]
        yield written


def _content(content: Json) -> Json:
    return content if content is None or isinstance(content, (str, list)) else dumps(content)


def _tool(tool: OfferedTool, names: ToolNames) -> Json:
    parameters = {name: value for name, value in tool.schema.items() if name != "description"}
    description = tool.schema.get("description", "")
    return {
        "type": "function",
        "function": {"name": names.to_wire(tool.name), "description": description, "parameters": parameters},
    }


def read_answer(data: bytes, names: ToolNames) -> Response:
    """Read the answer to a request that was not streamed. Raises `ProviderError`."""
    answer = _object(data)
    choice = _choice(answer)
    message = choice.get("message") if choice else None
    if not isinstance(message, dict):
        raise ProviderError("the answer has no choices")
    pieces = _Pieces()
    pieces.take(message)
    return pieces.response(names, _text(choice, "finish_reason"), _usage(answer))


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Pieces:
    """A message in the making, of one piece or many."""

    text: list[str] = field(default_factory=list)
    calls: dict[int, _Call] = field(default_factory=dict)

    def take(self, message: Mapping[str, Json]) -> None:
        for name in ("content", "refusal"):
            self.text += _texts(message.get(name))
        entries = message.get("tool_calls")
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, dict) or not isinstance(entry.get("function") or {}, dict):
                raise ProviderError("the answer has a tool call that is none")
            self._take_call(entry, entry.get("function") or {})

    def _take_call(self, entry: Mapping[str, Json], function: Mapping[str, Json]) -> None:
        id, name, arguments = entry.get("id"), function.get("name"), function.get("arguments")
        index = entry.get("index")
        if not isinstance(index, int):
            # Not every endpoint counts: a new id begins a new call, and what has none goes on with the last.
            known = next((key for key, call in self.calls.items() if id and call.id == id), None)
            index = known if known is not None else len(self.calls) - (0 if id or name or not self.calls else 1)
        call = self.calls.setdefault(index, _Call())
        call.id = call.id or (id if isinstance(id, str) else "")
        if isinstance(name, str) and name != call.name:
            call.name += name
        if isinstance(arguments, str):
            call.arguments.append(arguments)
        elif arguments is not None:
            call.arguments.append(dumps(arguments))

    def response(self, names: ToolNames, finish: str | None, usage: Usage | None) -> Response:
        calls = [self.calls[index] for index in sorted(self.calls)]
        if any(not call.name for call in calls):
            raise ProviderError("the answer has a tool call without a name")
        made = tuple(
            ToolCall(call.id, names.from_wire(call.name), parse_arguments("".join(call.arguments))) for call in calls
        )
        return Response("".join(self.text), made, usage, finish)


@dataclass(slots=True)
class StreamedAnswer:
    """An answer that comes event by event."""

    names: ToolNames
    _pieces: _Pieces = field(default_factory=_Pieces)
    _finish: str | None = None
    _usage: Usage | None = None

    def take(self, data: bytes) -> bool:
        """Take in the data of an event. Whether more is to come. Raises `ProviderError`."""
        if data.strip() == b"[DONE]":
            self._finish = self._finish or "stop"
            return False
        event = _object(data)
        self._usage = _usage(event) or self._usage
        if choice := _choice(event):
            self._finish = _text(choice, "finish_reason") or self._finish
            if isinstance(delta := choice.get("delta"), dict):
                self._pieces.take(delta)
        return True

    def response(self) -> Response:
        """The whole answer, once the stream ended. Raises `ProviderError` where it was cut off before its end."""
        if self._finish is None:
            raise ProviderError("the stream was cut off before the answer ended")
        return self._pieces.response(self.names, self._finish, self._usage)


def _texts(content: Json) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else ()
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def _object(data: bytes) -> Mapping[str, Json]:
    try:
        value = loads(data)
    except JsonError as error:
        raise ProviderError(f"the answer is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ProviderError("the answer is not a JSON object")
    if trouble := value.get("error"):
        what = trouble.get("message") if isinstance(trouble, dict) else trouble
        raise ProviderError(f"the endpoint answered with an error: {what if isinstance(what, str) else dumps(trouble)}")
    return value


def _choice(answer: Mapping[str, Json]) -> Mapping[str, Json]:
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _text(value: Mapping[str, Json], name: str) -> str | None:
    text = value.get(name)
    return text if isinstance(text, str) else None


def _usage(answer: Mapping[str, Json]) -> Usage | None:
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return None
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    return Usage(*(count if isinstance(count, int) and count > 0 else 0 for count in counts))
