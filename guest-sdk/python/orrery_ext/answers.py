"""What a handler may answer, besides None."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Deny:
    """Refused. The reason is shown to the model and to the user."""

    reason: str


@dataclass(frozen=True)
class Rewrite:
    """The field that the point lets a rewrite change goes on as this: the input, the outcome, the options."""

    value: Any


@dataclass(frozen=True)
class Handled:
    """At `tool.before`: the tool is not run, and this outcome stands in its place."""

    outcome: Mapping[str, Any]


@dataclass(frozen=True)
class Keep:
    """At `memory.recall`: the entries with these ids stay, in this order."""

    ids: Iterable[Any]


@dataclass(frozen=True)
class Edits:
    """At `context.build`: edits such as `{"t": "drop-section", "id": "x"}`, applied all or none."""

    edits: Iterable[Mapping[str, Any]]
