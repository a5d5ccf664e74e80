"""What the doctor looks at. Each check asks a real guest to break a limit, and says what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..config import Config
from ..points import Point, Site
from ..registry import NotLoaded, Registry
from ..sandbox import Bounds, CacheRefusedError, CodeCache, ComponentError, Guest, Sandbox, text_to_binary
from ..verdicts import Answer, Failure, FailureKind, Reply, Verdict

_PROBE = Path(__file__).with_name("probe.wat")
_SITE = Site("doctor", 1, 1)
_DEADLINE_MS = 100
_FUEL = 10_000_000
_MEMORY_MIB = 16
_OUTPUT_KIB = 1024
_LOG_LINES = 64
_SLACK_MS = 250
"""How much later than its deadline a guest may be stopped on a machine that is busy with other things."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `holds` says whether it is in force, `what` with which figures."""

    name: str
    holds: bool
    what: str


def check_limits(sandbox: Sandbox) -> Iterator[Check]:
    """Break every limit with the probe. A limit that does not hold is a check that does not hold; nothing raises."""
    try:
        data = text_to_binary(_PROBE.read_text(encoding="utf-8"))
        guest = sandbox.load(data, Bounds(_FUEL * 100, _MEMORY_MIB, _OUTPUT_KIB, 8192, 16, _LOG_LINES)).guest
        short = sandbox.load(data, Bounds(_FUEL, _MEMORY_MIB, _OUTPUT_KIB, 8192, 16, _LOG_LINES)).guest
    except (OSError, ComponentError) as error:
        yield Check("probe", False, f"the probe cannot be loaded: {error}")
        return
    yield _deadline(guest)
    yield _failure("fuel", _ask(short, "f"), FailureKind.FUEL)
    yield _memory(_ask(guest, "m"))
    yield _failure("stack", _ask(guest, "s"), FailureKind.STACK)
    yield _failure("output", _ask(guest, "o"), FailureKind.TOO_LARGE)
    yield _log(_ask(guest, "l"))
    yield _isolation([_ask(guest, "i") for _ in range(3)])
    yield _imports(sandbox)


def check_cache(cache: CodeCache) -> Check:
    """Whether compiled code is kept where only the user can write."""
    try:
        cache.find("0" * 64, "0" * 16)
    except CacheRefusedError as refused:
        return Check("code cache", False, str(refused))
    state = "only you can write it" if cache.folder.exists() else "not made yet"
    return Check("code cache", True, f"{cache.folder}: {state}")


def check_extensions(registry: Registry) -> Iterator[Check]:
    """Whether each extension that is declared is in force."""
    for one in registry.extensions:
        asked = len(one.interceptors) + len(one.rules) + len(one.watchers)
        yield Check(f"extension {one.name}", True, f"{one.version}, {one.layer}, {asked} registered")
    for missing in registry.not_loaded:
        yield Check(f"extension {missing.name}", False, _why(missing))
    for problem in registry.problems:
        if not any(problem in one.problems for one in registry.not_loaded):
            yield Check("registration", False, str(problem))


def _why(one: NotLoaded) -> str:
    consequence = "; calls in its scope are denied" if one.closed else "; it is skipped"
    return f"{one.problems[0] if one.problems else 'cannot be loaded'}{consequence}"


def _ask(guest: Guest, letter: str, deadline_ms: int = 5000) -> Reply:
    return guest.ask(Point.TOOL_BEFORE, letter.encode(), b"{}", _SITE, (b"doctor", b"{}"), 8, deadline_ms)


def _deadline(guest: Guest) -> Check:
    reply = _ask(guest, "d", _DEADLINE_MS)
    took = reply.duration_us / 1000
    stopped = isinstance(reply.outcome, Failure) and reply.outcome.kind is FailureKind.DEADLINE
    holds = stopped and took < _DEADLINE_MS + _SLACK_MS
    return Check("deadline", holds, f"a guest that spins was stopped after {took:.1f} ms of {_DEADLINE_MS}")


def _failure(name: str, reply: Reply, kind: FailureKind) -> Check:
    outcome = reply.outcome
    if isinstance(outcome, Failure):
        return Check(name, outcome.kind is kind, f"a guest that breaks it: {outcome.detail}")
    return Check(name, False, "a guest that breaks it was let through")


def _memory(reply: Reply) -> Check:
    outcome = reply.outcome
    pages = len(outcome.text) if isinstance(outcome, Verdict) else 0
    most = _MEMORY_MIB * 16
    return Check("memory", 0 < pages <= most, f"a guest that takes all it can got {pages / 16:g} of {_MEMORY_MIB} MiB")


def _log(reply: Reply) -> Check:
    kept, dropped = len(reply.logged), reply.dropped
    return Check("log", kept == _LOG_LINES and dropped == 1000 - kept, f"of 1000 lines {kept} were kept")


def _isolation(replies: list[Reply]) -> Check:
    clean = all(isinstance(reply.outcome, Verdict) and reply.outcome.answer is Answer.PROCEED for reply in replies)
    what = "nothing of one call was there in the next" if clean else "a call saw what an earlier one had left"
    return Check("isolation", clean, what)


def _imports(sandbox: Sandbox) -> Check:
    text = '(component (import "wasi:clocks/monotonic-clock@0.2.0" (instance (export "now" (func (result u64))))))'
    try:
        sandbox.load(text_to_binary(text), Bounds(1, 1, 1, 1, 1, 1))
    except ComponentError as error:
        return Check("no imports", "imports wasi:clocks" in str(error), f"a component that wants a clock: {error}")
    return Check("no imports", False, "a component that wants a clock was loaded")


def config_source(config: Config) -> str:
    """The limits in force, in a line."""
    limits, deadlines = config.limits, config.deadlines
    return (
        f"gates {deadlines.gate_ms} ms, rewrites {deadlines.rewrite_ms} ms, fuel {limits.fuel}, "
        f"memory {limits.memory_mib} MiB"
    )
