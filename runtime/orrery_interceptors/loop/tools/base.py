"""What a tool is, what it is given, and the set of those that a session has.

A harness adds a tool of its own by writing a class with `name`, `schema` and `run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ...jsontext import Json
from ...points import Site
from ..outcomes import Outcome
from .schema import Schema
from .workspace import Workspace

DEFAULT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "TZ", "TMPDIR")


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """What one call may take. `environment` names the host's variables that a shell is handed."""

    timeout_ms: int = 60_000
    output_bytes: int = 256 * 1024
    environment: tuple[str, ...] = DEFAULT_ENVIRONMENT


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where a call runs, and within which limits."""

    workspace: Workspace
    site: Site = field(default_factory=Site)
    limits: ToolLimits = field(default_factory=ToolLimits)


class Tool(Protocol):
    """Something that a model may call."""

    @property
    def name(self) -> str:
        """The name that extensions and the policy know it by, such as `builtin.bash`."""
        ...

    @property
    def schema(self) -> Schema:
        """The input's JSON Schema; its `description` says what the tool does."""
        ...

    async def run(self, input: Json, context: ToolContext) -> Outcome:
        """Do it. `input` comes from a model or an extension and was not checked.

        An exception becomes an error outcome. Cancellation must leave nothing running.
        """
        ...


class Toolbox(Mapping[str, Tool]):
    """The tools of a session, by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        """Raises `ValueError` where two tools have one name."""
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"there are two tools named {tool.name!r}")
            self._tools[tool.name] = tool

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)
