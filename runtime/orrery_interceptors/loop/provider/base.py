"""What the loop asks a model, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ...jsontext import Json
from ...points import Site
from ..conversation import Message, ToolCall


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the model may call. `schema` is the JSON Schema of its input, its `description` the tool's."""

    name: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as it was decided on.

    `system` is the whole system prompt, empty where there is none. `messages` are the conversation as `context.build`
    left it: calls of tools as `{"id", "tool", "input"}` under `tool_calls`.
    """

    site: Site
    model: str
    options: Mapping[str, Json]
    system: str
    messages: tuple[Message, ...]
    tools: tuple[OfferedTool, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, as the endpoint counted them."""

    prompt: int = 0
    completion: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class Response:
    """What a model answered.

    `usage` is None where the endpoint did not count. `finish` is the endpoint's own word for why the answer ended,
    such as `stop`, `tool_calls` or `length`.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = field(default=())
    usage: Usage | None = None
    finish: str | None = None


class Provider(Protocol):
    """A model."""

    async def complete(self, request: Request) -> Response | None:
        """Answer. None: there is no answer to be had, and that is no failure; the turn ends.

        Raises `ProviderError`.
        """
        ...
