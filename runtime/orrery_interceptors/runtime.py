"""The front: extensions in, decisions out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
import anyio.to_thread

from .audit import AuditWriter
from .bus import Event, Subscription
from .compose import Plan, Policy, decide
from .config import Config, LoadedConfig, load_config, read_lock
from .decisions import Decision
from .errors import LoadError, PayloadError, Problem
from .jsontext import Json
from .patterns import matches
from .payloads import Payload, fields_of
from .points import SPECS, Point, Site
from .policy import ConfigPolicy
from .reasons import clean
from .registry import Declared, LoadedExtension, RegisteredWatcher, Registry, load_registry
from .sandbox import CodeCache, CompileLimits, Marshalling, Sandbox, default_folder
from .verdicts import Failure

_log = logging.getLogger("orrery_interceptors")
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
_MOST_THREADS = 64

PathLike = str | Path


class Runtime:
    """Extensions that are in force. Decides at the five points; may be used from any thread.

    Make one with `Runtime.open`, and close it, best with `with`. `problems` say what is not in force and why,
    `warnings` what is in force but not as someone meant it.
    """

    def __init__(
        self,
        registry: Registry,
        sandbox: Sandbox,
        *,
        config: Config | None = None,
        policy: Policy | None = None,
        audit: AuditWriter | None = None,
        warnings: Iterable[Problem] = (),
    ) -> None:
        self.config = config or Config()
        self.audit = audit
        self._registry = registry
        self._sandbox = sandbox
        self._policy = policy
        self._warnings = tuple(warnings)
        self._subscriptions: list[tuple[_Filter, Subscription]] = []
        self._watching: dict[int, Subscription] = {}
        self._lock = threading.Lock()
        self._limiter: anyio.CapacityLimiter | None = None
        self._good_site: Site | None = None
        self._closed = False

    @classmethod
    def open(
        cls,
        project: PathLike | None = None,
        *,
        extensions: Iterable[PathLike] = (),
        config: LoadedConfig | Config | None = None,
        policy: Policy | None = None,
        audit: PathLike | None = None,
        cache: PathLike | None = None,
        marshalling: Marshalling | None = None,
    ) -> Self:
        """Load extensions and be ready to decide.

        `project` is a folder whose config, lock and audit are used; without it no file is read, and no audit written
        unless `audit` names one. `extensions` are folders to load besides, closest of all; that they are named here
        is the agreement to them. `config` takes the place of what would be read. `policy` is the host's own check of
        tools, by default the config's. `cache` is the folder for compiled code, by default the user's.

        Raises `ConfigError` for what is wrong with a config file or a lock, `LoadError` when one of `extensions` cannot
        be loaded, `AuditError` when the audit cannot be written. What is wrong with an extension that the config
        declares is among `problems`, and calls in its scope are denied.
        """
        loaded = config if isinstance(config, LoadedConfig) else None
        if config is None and project is not None:
            loaded = load_config(Path(project))
        settings = loaded.config if loaded else config if isinstance(config, Config) else Config()
        named = [Declared.by_path(Path(folder)) for folder in extensions]
        declared = [*named, *_declared(settings)]
        writer = _audit(loaded, audit, settings)
        limits = settings.limits
        sandbox = Sandbox(
            cache=CodeCache(Path(cache) if cache else default_folder()),
            compiling=CompileLimits(limits.compile_seconds, limits.compile_mib),
            marshalling=marshalling,
        )
        try:
            registry = load_registry(declared, settings, sandbox)
            if problems := [
                problem for one in registry.not_loaded if one.declared in named for problem in one.problems
            ]:
                raise LoadError(problems)
        except BaseException:
            sandbox.close()
            raise
        return cls(
            registry,
            sandbox,
            config=settings,
            policy=policy or _config_policy(settings),
            audit=writer,
            warnings=loaded.warnings if loaded else (),
        )

    # ---- what is loaded -----------------------------------------------------------------------------------------

    @property
    def extensions(self) -> tuple[LoadedExtension, ...]:
        """The extensions in force, closest layer first."""
        return self._registry.extensions

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is not in force, and why."""
        return self._registry.problems

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What is in force, but not as someone meant it."""
        return (*self._warnings, *self._registry.warnings)

    @property
    def registry(self) -> Registry:
        """What is loaded, and what is not."""
        return self._registry

    def replace(self, registry: Registry) -> None:
        """Put another registry in force, made with the same sandbox. Decisions that run go on with the old one."""
        with self._lock:
            self._registry = registry
            # Watchers of the old one are told what they were to be told, and no more.
            gone, self._watching = self._watching, {}
        for subscription in gone.values():
            subscription.drain(0.1)
            subscription.close()

    # ---- deciding -----------------------------------------------------------------------------------------------

    def decide(self, point: Point | str, payload: Payload | Mapping[str, Json], site: Site = Site()) -> Decision:  # noqa: B008  # frozen
        """Ask every interceptor that matches, and make one decision of it. Blocks while guests run.

        Raises `PayloadError` for a payload or a site that has not the shape of the point, and `AuditError` when the
        decision cannot be written down; then it must not be acted on. Never raises for what an extension does.
        """
        point = _point(point)
        fields = fields_of(point, payload)
        self._check_site(site)
        registry = self._registry
        plan = registry.plan(point, _tool(point, fields), site.agent)
        return self._decide(registry, plan, point, fields, site)

    async def adecide(self, point: Point | str, payload: Payload | Mapping[str, Json], site: Site = Site()) -> Decision:  # noqa: B008  # frozen
        """The same without blocking the event loop. Raises as `decide` does.

        A call that is cancelled goes on to its end, which its deadlines bound, and is in the audit.
        """
        point = _point(point)
        fields = fields_of(point, payload)
        self._check_site(site)
        registry = self._registry
        plan = registry.plan(point, _tool(point, fields), site.agent)
        waits = self.audit is not None and self.config.audit.sync == "decision"
        if not (plan.rewrites or plan.gates or waits):
            return self._decide(registry, plan, point, fields, site)
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_MOST_THREADS)
        return await anyio.to_thread.run_sync(
            self._decide, registry, plan, point, fields, site, abandon_on_cancel=True, limiter=self._limiter
        )

    def _decide(self, registry: Registry, plan: Plan, point: Point, fields: dict[str, Json], site: Site) -> Decision:
        decision = decide(plan, point, fields, site, policy=self._policy, submit=self._sandbox.workers.submit)
        if self.audit is not None:
            self.audit.record(decision, fields, site)
        for entry in decision.trail:
            if entry.logged or entry.dropped or entry.failure is not None:
                _tell(entry.extension, entry.reason if entry.failure else None, entry.logged, entry.dropped)
        self._publish(registry, decision, fields, site)
        return decision

    def _check_site(self, site: Site) -> None:
        if site is self._good_site:
            return
        if problems := list(_site_problems(site)):
            raise PayloadError(problems)
        self._good_site = site

    # ---- watching -----------------------------------------------------------------------------------------------

    def watch(
        self,
        watcher: Callable[[Event], object],
        *,
        points: Iterable[Point | str] = (),
        tools: Iterable[str] = (),
        agents: Iterable[str] = (),
    ) -> Subscription:
        """Tell a callable of every decision, on a thread of its own; empty filters mean every one.

        It is never waited for. When it is slow, events are lost and counted (`Subscription.lost`). What it raises is
        logged.
        """
        subscription = Subscription(getattr(watcher, "__name__", "watcher"), watcher)
        where = _Filter(tuple(_point(point) for point in points), tuple(tools), tuple(agents))
        with self._lock:
            self._subscriptions = [*self._subscriptions, (where, subscription)]
        return subscription

    def unwatch(self, subscription: Subscription) -> None:
        """End a subscription; events that still wait are lost."""
        with self._lock:
            self._subscriptions = [one for one in self._subscriptions if one[1] is not subscription]
        subscription.close()

    def drain(self, seconds: float = 5.0) -> bool:
        """Wait until all watchers were told what was decided so far, at most so long for each. Whether they were."""
        subscriptions = [one for _, one in self._subscriptions] + list(self._watching.values())
        drained = [one.drain(seconds) for one in subscriptions]
        return all(drained)

    def _publish(self, registry: Registry, decision: Decision, asked: dict[str, Json], site: Site) -> None:
        point = decision.point
        tool = _tool(point, asked)
        watchers = registry.watchers(point, tool, site.agent)
        if not watchers and not self._subscriptions:
            return
        event = Event(site, asked, decision)
        for where, subscription in self._subscriptions:
            if where.matches(point, tool, site.agent):
                subscription.put(event)
        for watcher in watchers:
            self._subscription_of(watcher).put(event)

    def _subscription_of(self, watcher: RegisteredWatcher) -> Subscription:
        with self._lock:
            subscription = self._watching.get(id(watcher))
            if subscription is None:
                name = f"{watcher.extension}-{watcher.name}"
                self._watching[id(watcher)] = subscription = Subscription(name, _Telling(watcher))
            return subscription

    # ---- the end ------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End: no decision after this; the audit is written out. Raises `AuditError` when it cannot be."""
        if self._closed:
            return
        self._closed = True
        self._registry.close()
        for subscription in [*(one for _, one in self._subscriptions), *self._watching.values()]:
            subscription.close()
        try:
            if self.audit is not None:
                self.audit.close()
        finally:
            self._sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Filter:
    """Which decisions a Python watcher is told of."""

    def __init__(self, points: tuple[Point, ...], tools: tuple[str, ...], agents: tuple[str, ...]) -> None:
        self._points, self._tools, self._agents = points, tools, agents

    def matches(self, point: Point, tool: str | None, agent: str) -> bool:
        return (
            (not self._points or point in self._points)
            and (tool is None or not self._tools or any(matches(pattern, tool) for pattern in self._tools))
            and (not self._agents or any(matches(pattern, agent) for pattern in self._agents))
        )


class _Telling:
    """Tells an extension's watcher of an event, and logs what it logs."""

    def __init__(self, watcher: RegisteredWatcher) -> None:
        self._watcher = watcher

    def __call__(self, event: Event) -> None:
        text = event.text()
        if text is None:
            return
        reply = self._watcher.watch(text.encode())
        said = None
        if isinstance(reply.outcome, Failure):
            said = f"watcher {self._watcher.name} (extension {self._watcher.extension}): {reply.outcome.detail}"
        _tell(self._watcher.extension, said, reply.logged, reply.dropped)


def _tell(extension: str | None, failure: str | None, logged: tuple[tuple[str, str], ...], dropped: int) -> None:
    """Log what an extension wrote and that it failed."""
    for level, text in logged:
        _log.log(_LEVELS.get(level, logging.INFO), "%s: %s", extension, clean(text))
    if dropped:
        _log.warning("%s: %d more log lines in one call were dropped", extension, dropped)
    if failure is not None:
        _log.warning("%s", clean(failure))


def _declared(config: Config) -> list[Declared]:
    """What the config declares, with what was agreed to. Raises `ConfigError` for a lock that cannot be read."""
    locks = {entry.lock_file: read_lock(entry.lock_file) for entry in config.extensions if entry.enabled}
    return [
        Declared.by_config(entry, locks[entry.lock_file].find(entry.declared))
        for entry in config.extensions
        if entry.enabled
    ]


def _audit(loaded: LoadedConfig | None, path: PathLike | None, config: Config) -> AuditWriter | None:
    where = Path(path) if path is not None else loaded.audit_path if loaded else None
    if where is None:
        return None
    writer = AuditWriter(where, config.audit.sync)
    writer.check()
    return writer


def _config_policy(config: Config) -> Policy | None:
    policy = ConfigPolicy(config.policy)
    return None if policy.trivial else policy


def _point(point: Point | str) -> Point:
    if isinstance(point, Point):
        return point
    try:
        return Point(point)
    except ValueError:
        raise PayloadError(Problem(f"{point!r} is not a point; the points are {', '.join(Point)}")) from None


def _tool(point: Point, fields: Mapping[str, Json]) -> str | None:
    return str(fields["tool"]) if SPECS[point].has_tool else None


def _site_problems(site: Site) -> Iterable[Problem]:
    for name in ("session", "agent", "call"):
        value = getattr(site, name)
        if value is None and name == "call":
            continue
        if not isinstance(value, str):
            yield Problem(f"must be a string, not {type(value).__name__}", key=f"site.{name}")
        elif any("\ud800" <= char <= "\udfff" for char in value):
            yield Problem("a lone surrogate, which no UTF-8 text can carry", key=f"site.{name}")
    for name in ("turn", "pass_"):
        value = getattr(site, name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**32:
            yield Problem("must be a whole number from 0 to 4294967295", key=f"site.{name.rstrip('_')}")
