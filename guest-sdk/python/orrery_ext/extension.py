"""An extension: what it registers, and its handlers by name."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_type_hints

from .answers import Deny, Edits, Handled, Keep, Rewrite
from .payloads import POINTS, Payload, Site

Handler = TypeVar("Handler", bound=Callable[..., Any])


@dataclass(frozen=True)
class Call:
    """What a handler may ask for as its second parameter: where the call happens, and the settings."""

    site: Site
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Interceptor:
    """A handler and how it is registered."""

    name: str
    payload: type[Payload]
    mode: str
    tools: tuple[str, ...]
    agents: tuple[str, ...]
    handler: Callable[..., Any]


@dataclass
class Extension:
    """Collects handlers with its decorators, and rules.

    `rules` are dicts as in a manifest; `check` is called with the settings when the extension is loaded, and may raise
    what is wrong with them.
    """

    rules: list[Mapping[str, Any]] = field(default_factory=list)
    check: Callable[[Mapping[str, Any]], None] | None = None
    interceptors: dict[str, Interceptor] = field(default_factory=dict)
    watchers: dict[str, tuple[dict[str, Any], Callable[..., Any]]] = field(default_factory=dict)

    def gate(self, name: str, *, tools: Iterable[str] = (), agents: Iterable[str] = ()) -> Callable[[Handler], Handler]:
        """Add a gate: it answers a `Deny` or None."""
        return self._add(name, "gate", tools, agents)

    def rewrite(
        self, name: str, *, tools: Iterable[str] = (), agents: Iterable[str] = ()
    ) -> Callable[[Handler], Handler]:
        """Add a rewrite: it may change the payload, and deny where the point allows it."""
        return self._add(name, "rewrite", tools, agents)

    def rewrite_only(
        self, name: str, *, tools: Iterable[str] = (), agents: Iterable[str] = ()
    ) -> Callable[[Handler], Handler]:
        """Add a rewrite-only: it may change the payload and nothing else, and is skipped when it fails."""
        return self._add(name, "rewrite-only", tools, agents)

    def watcher(
        self, name: str, *, points: Iterable[str] = (), tools: Iterable[str] = (), agents: Iterable[str] = ()
    ) -> Callable[[Handler], Handler]:
        """Add a watcher: it is given each event as a dict, and can only log."""

        def add(handler: Handler) -> Handler:
            told = {"name": name, "points": list(points), "tools": list(tools), "agents": list(agents)}
            self.watchers[name] = told, handler
            return handler

        return add

    def _add(self, name: str, mode: str, tools: Iterable[str], agents: Iterable[str]) -> Callable[[Handler], Handler]:
        def add(handler: Handler) -> Handler:
            parameters = list(inspect.signature(handler).parameters)
            hints = get_type_hints(handler)
            payload = hints.get(parameters[0]) if parameters else None
            if payload not in POINTS.values():
                known = ", ".join(kind.__name__ for kind in POINTS.values())
                raise TypeError(f"{name}: the handler's first parameter must be annotated with one of {known}")
            if name in self.interceptors:
                raise ValueError(f"there are two interceptors of the name {name}")
            assert isinstance(payload, type)
            self.interceptors[name] = Interceptor(name, payload, mode, tuple(tools), tuple(agents), handler)
            return handler

        return add

    def registration(self, settings: str) -> str:
        """What is registered, as JSON text. Raises what `check` raises."""
        if self.check is not None:
            self.check(json.loads(settings))
        interceptors = [
            {
                "name": one.name,
                "point": one.payload.point,
                "mode": one.mode,
                "tools": list(one.tools),
                "agents": list(one.agents),
            }
            for one in self.interceptors.values()
        ]
        watchers = [told for told, _ in self.watchers.values()]
        return json.dumps({"interceptors": interceptors, "rules": self.rules, "watchers": watchers})

    def ask(self, name: str, settings: str, site: Site, payload: Payload) -> tuple[str, str]:
        """Ask a handler: the case of the verdict and its text. Raises what the handler raises."""
        one = self.interceptors.get(name)
        if one is None or one.payload is not type(payload):
            raise LookupError(f"nothing is registered under the name {name} at {payload.point}")
        takes_call = len(inspect.signature(one.handler).parameters) > 1
        more = (Call(site, json.loads(settings)),) if takes_call else ()
        answer = one.handler(payload, *more)
        if inspect.iscoroutine(answer):
            answer = _finished(answer)
        return _verdict(payload, answer)

    def tell(self, name: str, settings: str, event: str) -> None:
        """Tell a watcher of an event."""
        found = self.watchers.get(name)
        if found is not None:
            found[1](json.loads(event))


def _finished(coroutine: Any) -> Any:
    """What a coroutine returns that has nothing to wait for."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    coroutine.close()
    raise RuntimeError("the handler waits, and there is nothing in a sandbox to wait for")


def _verdict(payload: Payload, answer: Any) -> tuple[str, str]:
    match answer:
        case None:
            return "proceed", ""
        case Deny(reason):
            return "deny", str(reason)
        case Rewrite(value):
            return "rewrite", json.dumps({payload.field: value})
        case Handled(outcome):
            return "handled", json.dumps(dict(outcome))
        case Keep(ids):
            return "rewrite", json.dumps({"entries": [{"id": one} for one in ids]})
        case Edits(edits):
            return "rewrite", json.dumps({"edits": [dict(edit) for edit in edits]})
    raise TypeError(f"an answer is None, Deny, Rewrite, Handled, Keep or Edits, not {type(answer).__name__}")
