"""Tool names for endpoints that allow letters, digits, `_` and `-` alone, 64 of them (OpenAI's function names)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from ...jsontext import Json

_ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


class ToolNames:
    """The names of one request, both ways. Two tools never share a name on the wire, and the same tools always have the
    same names there."""

    def __init__(self, names: Iterable[str]) -> None:
        every = set(names)
        self._wire = {name: name for name in every if _ALLOWED.fullmatch(name)}
        self._own = dict(self._wire)
        for name in sorted(every - self._wire.keys()):
            wire = _OTHER.sub("_", name)[:64]
            if not wire or wire in self._own:
                wire = f"{wire[:47]}_{hashlib.sha256(name.encode()).hexdigest()[:16]}"
            self._wire[name], self._own[wire] = wire, name

    def to_wire(self, name: str) -> str:
        """The name for the endpoint."""
        return self._wire[name]

    def from_wire(self, wire: str) -> str:
        """The tool that a name from the endpoint stands for; a name that was never offered stands for itself."""
        return self._own.get(wire, wire)

    def choice_to_wire(self, choice: Json) -> Json:
        """The option `tool_choice`, with the name of a function that it may hold."""
        function = choice.get("function") if isinstance(choice, dict) else None
        if (
            not isinstance(function, dict)
            or not isinstance(name := function.get("name"), str)
            or name not in self._wire
        ):
            return choice
        return {**choice, "function": {**function, "name": self._wire[name]}}
