"""A loaded extension, and its interceptors as things that can be asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..compose import Texts
from ..config import Layer
from ..manifest import Effective, Manifest
from ..patterns import matches
from ..points import Mode, Point, Site
from ..rules import Rule
from ..sandbox import Guest
from ..verdicts import Reply
from .registration import Interceptor, Watcher

_WEIGHT = 0.2


class RegisteredInterceptor:
    """An interceptor of a loaded extension. Keeps how long its answers took lately, which decides where it runs."""

    __slots__ = ("_deadline_ms", "_guest", "_name", "_settings", "expected_us", "extension", "mode", "name", "of")

    def __init__(self, extension: str, of: Interceptor, guest: Guest, settings: bytes, deadline_ms: int) -> None:
        self.extension = extension
        self.name = of.name
        self.mode: Mode = of.mode
        self.of = of
        self.expected_us: float | None = None
        self._guest = guest
        self._settings = settings
        self._deadline_ms = deadline_ms
        self._name = of.name.encode()

    def ask(self, point: Point, site: Site, texts: Texts) -> Reply:
        """Ask it. Never raises for what the guest does."""
        reply = self._guest.ask(point, self._name, self._settings, site, texts.fields, texts.size, self._deadline_ms)
        before = self.expected_us
        took = float(reply.duration_us)
        # Written without a lock: of two threads that measured at once one is forgotten, which changes nothing.
        self.expected_us = took if before is None else before + _WEIGHT * (took - before)
        return reply

    def matches(self, tool: str | None, agent: str) -> bool:
        """Whether a call of this tool (None at points that are not about tools) by this agent is its to see."""
        return _any(self.of.tools, tool) and _any(self.of.agents, agent)


class RegisteredWatcher:
    """A watcher of a loaded extension."""

    def __init__(self, extension: str, of: Watcher, guest: Guest, settings: bytes, deadline_ms: int) -> None:
        self.extension = extension
        self.name = of.name
        self.of = of
        self._guest = guest
        self._settings = settings
        self._deadline_ms = deadline_ms

    def watch(self, event: bytes) -> Reply:
        """Tell it of an event."""
        return self._guest.watch(self.name.encode(), self._settings, event, self._deadline_ms)

    def matches(self, point: Point, tool: str | None, agent: str) -> bool:
        """Whether it is told of a call."""
        return (
            (not self.of.points or point in self.of.points)
            and _any(self.of.tools, tool)
            and _any(self.of.agents, agent)
        )


def _any(patterns: tuple[str, ...], name: str | None) -> bool:
    return not patterns or name is None or any(matches(pattern, name) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class LoadedExtension:
    """An extension that is in force. `guest` is None where it has only rules."""

    name: str
    version: str
    layer: Layer
    folder: Path
    digest: str
    manifest: Manifest
    effective: Effective
    guest: Guest | None
    interceptors: tuple[RegisteredInterceptor, ...] = ()
    rules: tuple[Rule, ...] = ()
    watchers: tuple[RegisteredWatcher, ...] = ()
    component_digest: str | None = None
    cached: bool = False
    settings: dict[str, object] = field(default_factory=dict)
