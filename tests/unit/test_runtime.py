"""The front: plain and asynchronous calls, watchers, load problems, what is raised and when."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from conftest import PAYLOADS, Probes, interceptor, write_manifest
from orrery_interceptors import AuditError, Config, Event, LoadError, PayloadError, Runtime, Site
from orrery_interceptors.audit import AuditWriter, verify
from orrery_interceptors.config import Layer
from orrery_interceptors.registry import Declared, Registry, load_registry
from orrery_interceptors.sandbox import CompileLimits, Sandbox

CALL = PAYLOADS["tool.before"]
SPIN = {"t": "spin"}


def test_an_asynchronous_decision_never_blocks_the_event_loop(probes: Probes) -> None:
    config = Config.model_validate({"deadlines": {"gateMs": 300}})
    runtime = probes(([interceptor("x", mode="gate")], {"x": SPIN}), config=config)
    longest = 0.0

    async def main() -> Any:
        nonlocal longest
        done = anyio.Event()
        decisions: list[Any] = []

        async def ask() -> None:
            decisions.append(await runtime.adecide("tool.before", CALL))
            done.set()

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            last = time.monotonic()
            while not done.is_set():
                await anyio.sleep(0.001)
                now = time.monotonic()
                longest, last = max(longest, now - last), now
        return decisions[0]

    decision = anyio.run(main)
    assert decision.by.kind == "deadline"
    # Blocked, the loop would have stood still for all of the 300 ms.
    assert longest < 0.2


def test_plain_and_asynchronous_calls_decide_alike(probes: Probes) -> None:
    runtime = probes(([interceptor("x")], {"x": {"t": "set", "pointer": "/y", "value": 1}}))
    plain = runtime.decide("tool.before", CALL)
    other = anyio.run(runtime.adecide, "tool.before", CALL)
    assert (plain.payload, plain.trail[0].patch) == (other.payload, other.trail[0].patch)
    assert not anyio.run(runtime.adecide, "memory.recall", PAYLOADS["memory.recall"]).trail


def test_a_cancelled_decision_is_in_the_audit(probes: Probes, tmp_path: Path) -> None:
    config = Config.model_validate({"deadlines": {"gateMs": 100}})
    writer = AuditWriter(tmp_path / "a.jsonl")
    runtime = probes(([interceptor("x", mode="gate")], {"x": SPIN}), config=config, audit=writer)

    async def main() -> None:
        with anyio.move_on_after(0.01):
            await runtime.adecide("tool.before", CALL)

    anyio.run(main)
    deadline = time.monotonic() + 10
    while not writer.written and time.monotonic() < deadline:
        threading.Event().wait(0.005)
    runtime.close()
    assert verify(tmp_path / "a.jsonl").records == 1


def test_watchers_are_told_and_change_nothing(probes: Probes) -> None:
    runtime = probes(([interceptor("x")], {"x": {"t": "deny", "reason": "no"}}))
    told: list[Event] = []

    def failing(event: Event) -> None:
        raise RuntimeError("mine")

    runtime.watch(told.append, points=["tool.before"], tools=["t*"])
    runtime.watch(told.append, agents=["other"])
    runtime.watch(failing)
    decision = runtime.decide("tool.before", CALL, Site("s"))
    assert decision.denied and runtime.drain()
    assert [(event.site.session, event.decision.reason) for event in told] == [("s", decision.reason)]
    assert told[0].to_json()["v"] == 1


def test_a_slow_watcher_loses_events_and_they_are_counted(probes: Probes) -> None:
    runtime = probes()
    go = threading.Event()
    subscription = runtime.watch(lambda event: go.wait(10))
    subscription._size = 3
    for _ in range(10):
        runtime.decide("tool.before", CALL)
    assert subscription.lost >= 6
    go.set()
    runtime.unwatch(subscription)


def test_an_extensions_watcher_is_told_in_its_scope(probe: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="orrery_interceptors")
    settings = {"register": {"watchers": [{"name": "w", "points": ["tool.before"], "tools": ["t"]}]}}
    with runtime_of(Declared(probe, Layer.PROJECT, settings, trusted=True)) as runtime:
        runtime.decide("tool.before", CALL)
        runtime.decide("tool.before", {"tool": "other", "input": {}})
        assert runtime.drain()
    assert [record.getMessage() for record in caplog.records] == ["probe: w: proceed"]


def runtime_of(*declared: Declared, config: Config | None = None) -> Runtime:
    config = config or Config()
    sandbox = Sandbox(cache=None, compiling=CompileLimits(60, 2048))
    return Runtime(load_registry(declared, config, sandbox), sandbox, config=config)


def problems(registry: Registry) -> str:
    return "\n".join(map(str, registry.problems))


@pytest.mark.parametrize(
    ("registration", "what"),
    [
        ("{", "what it registers is not JSON"),
        ("[]", "must be an object"),
        ({"interceptors": 5}, "not an array"),
        ({"more": []}, "which this host does not know"),
        ({"interceptors": [{"name": "x"}]}, "interceptors[1].point"),
        ({"interceptors": [interceptor(point="tool.never")]}, "is not a point"),
        ({"interceptors": [interceptor(mode="maybe")]}, "interceptors[1].mode"),
        ({"interceptors": [interceptor("X y")]}, "lower-case letters"),
        ({"interceptors": [interceptor("a\n\x1b[31m")]}, "lower-case letters"),
        ({"interceptors": [interceptor(), interceptor()]}, "two interceptors of the name x"),
        ({"interceptors": [interceptor(point="context.build", mode="gate")]}, "so it has no gates"),
        ({"interceptors": [interceptor(point="memory.recall", tools=["t"])]}, "is not about tools"),
        ({"interceptors": [interceptor(tools=["[a]"])]}, "interceptors[1].tools"),
        ({"interceptors": [interceptor(surprise=1)]}, "interceptors[1].surprise"),
        ({"interceptors": [interceptor(f"i{index}") for index in range(2000)]}, "at most 1024"),
        ({"rules": [{"t": "refuse", "tools": []}]}, "rules[0].tools"),
        ({"watchers": [{"name": "w", "points": ["nowhere"]}]}, "watchers[0].points"),
    ],
)
def test_what_an_extension_registers_is_checked_and_the_rest_of_it_taken(
    probe: Path, registration: Any, what: str
) -> None:
    if isinstance(registration, dict) and isinstance(registration.get("interceptors", []), list):
        good = interceptor("good")
        if len(registration.get("interceptors", [])) < 1000:
            registration = {**registration, "interceptors": [good, *registration.get("interceptors", [])]}
    with runtime_of(Declared(probe, Layer.PROJECT, {"register": registration}, trusted=True)) as runtime:
        assert what in problems(runtime.registry)
        assert "\x1b" not in problems(runtime.registry)
        (extension,) = runtime.extensions
        names = [one.name for one in extension.interceptors]
        assert "good" in names or not isinstance(registration, dict) or "good" not in str(registration)


def test_an_interceptor_beyond_its_scope_is_not_registered(probe: Path, tmp_path: Path) -> None:
    folder = tmp_path / "narrow"
    write_manifest(folder, "narrow", 'intercept = ["tool.before:builtin.*"]')
    (folder / "probe.wasm").write_bytes((probe / "probe.wasm").read_bytes())
    wanted = [
        interceptor("in", tools=["builtin.bash"]),
        interceptor("all"),
        interceptor("out", tools=["mcp__*"]),
        interceptor("after", "tool.after"),
    ]
    with runtime_of(Declared(folder, Layer.PROJECT, {"register": {"interceptors": wanted}}, trusted=True)) as runtime:
        assert [one.name for one in runtime.extensions[0].interceptors] == ["in"]
        assert [problem.key for problem in runtime.problems] == ["requires.intercept"] * 3
        assert all("under [requires]" in str(problem.fix) for problem in runtime.problems)


@pytest.mark.parametrize(
    ("action", "what"),
    [
        ({"t": "error", "message": "settings.x must be a number"}, "settings.x must be a number"),
        ({"t": "spin"}, "no answer within 50 ms"),
        ({"t": "trap"}, "trapped"),
        ({"t": "recurse"}, "recursed"),
        ({"t": "big", "bytes": 2_000_000, "as": "handled"}, "larger than 1024 KiB"),
    ],
)
def test_a_register_that_fails_is_a_load_problem_and_others_load(
    probe: Path, tmp_path: Path, action: Any, what: str
) -> None:
    other = tmp_path / "other"
    write_manifest(other, "other", 'intercept = ["tool.before"]')
    (other / "probe.wasm").write_bytes((probe / "probe.wasm").read_bytes())
    config = Config.model_validate({"deadlines": {"registerMs": 50}})
    with runtime_of(
        Declared(probe, Layer.PROJECT, {"registerDo": action}, trusted=True),
        Declared(other, Layer.USER, {"register": {"interceptors": [interceptor("x")]}}, trusted=True),
        config=config,
    ) as runtime:
        assert what in problems(runtime.registry)
        assert [extension.name for extension in runtime.extensions] == ["other"]


def test_of_two_with_one_name_the_one_with_more_authority_is_in_force(probe: Path) -> None:
    settings = {"register": {"interceptors": []}}
    declared = [Declared(probe, layer, settings, trusted=True) for layer in (Layer.PROJECT, Layer.ORG)]
    with runtime_of(*declared) as runtime:
        assert [extension.layer for extension in runtime.extensions] == [Layer.ORG]
        assert "is declared twice" in problems(runtime.registry)


def test_a_point_that_can_pass_its_cap_is_warned_of(probe: Path) -> None:
    interceptors = [interceptor(f"i{index}", mode="gate") for index in range(9)]
    with runtime_of(
        Declared(probe, Layer.PROJECT, {"register": {"interceptors": interceptors}}, trusted=True)
    ) as runtime:
        assert any("limits.interceptorsPerPhase is 8" in str(warning) for warning in runtime.warnings)
        decision = runtime.decide("tool.before", CALL)
        assert decision.by is not None and decision.by.kind == "cap" and decision.by.interceptor == "i8"


def test_limits_of_a_manifest_hold_beneath_the_hosts(probe: Path, tmp_path: Path) -> None:
    folder = tmp_path / "limited"
    write_manifest(
        folder, "limited", 'intercept = ["tool.before"]', "[limits]\ndeadlineMs = 20\nfuel = 99999999999999\n"
    )
    (folder / "probe.wasm").write_bytes((probe / "probe.wasm").read_bytes())
    settings = {"register": {"interceptors": [interceptor("x", mode="gate")]}, "do": {"x": SPIN}}
    with runtime_of(Declared(folder, Layer.PROJECT, settings, trusted=True)) as runtime:
        assert "no answer within 20 ms" in str(runtime.decide("tool.before", CALL).reason)
        assert any("more than the host's limits.fuel" in str(warning) for warning in runtime.warnings)


def test_calls_in_flight_are_bounded_and_the_wait_counts(probes: Probes) -> None:
    config = Config.model_validate({"deadlines": {"gateMs": 50}, "limits": {"inFlight": 2}})
    runtime = probes(([interceptor("x", mode="gate")], {"x": {"t": "proceed"}}), config=config)
    slots = runtime.extensions[0].guest._slots  # type: ignore[union-attr]  # as two calls that run would hold them
    assert slots.acquire(0)
    assert not runtime.decide("tool.before", CALL).denied
    assert slots.acquire(0)
    decision = runtime.decide("tool.before", CALL)
    assert decision.by is not None and decision.by.kind == "no-slot"
    assert "no slot within 50 ms: 2 calls of the extension were running" in str(decision.reason)
    slots.release()
    assert not runtime.decide("tool.before", CALL).denied


def test_what_is_unloaded_denies(probes: Probes) -> None:
    runtime = probes(([interceptor("x", mode="gate")], {"x": {"t": "proceed"}}))
    runtime.registry.close()
    decision = runtime.decide("tool.before", CALL)
    assert decision.by is not None and decision.by.kind == "gone"


def test_a_decision_that_cannot_be_written_down_is_raised(probes: Probes, tmp_path: Path) -> None:
    writer = AuditWriter(tmp_path / "folder", "decision")
    runtime = probes(audit=writer)
    (tmp_path / "folder").mkdir()
    with pytest.raises(AuditError):
        runtime.decide("tool.before", CALL)
    (tmp_path / "folder").rmdir()
    runtime.close()
    assert verify(tmp_path / "folder").records == 1


@pytest.mark.parametrize(
    ("point", "payload", "key"),
    [
        ("tool.before", {"tool": 5, "input": {}}, "/tool"),
        ("tool.before", {"input": {}}, "/tool"),
        ("tool.after", {"tool": "t", "input": {}, "outcome": {"t": "what"}}, "/outcome/t"),
        ("context.build", {"sections": [{"id": "x"}], "recalled": [], "messages": []}, "/sections/0"),
        ("memory.recall", {"query": "q", "entries": [5]}, "/entries/0"),
        ("provider.before", {"model": "m", "options": []}, "/options"),
    ],
)
def test_a_payload_of_the_wrong_shape_is_raised(probes: Probes, point: str, payload: Any, key: str) -> None:
    with pytest.raises(PayloadError) as caught:
        probes().decide(point, payload)
    assert caught.value.problems[0].key == key


@pytest.mark.parametrize("site", [Site("\ud800"), Site("s", -1), Site("s", 1, 2**32), Site(5), Site(agent=None)])  # type: ignore[arg-type]
def test_a_site_of_the_wrong_shape_is_raised(probes: Probes, site: Site) -> None:
    with pytest.raises(PayloadError):
        probes().decide("tool.before", CALL, site)


def test_a_point_that_is_none_and_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with Runtime.open() as runtime, pytest.raises(PayloadError, match="is not a point"):
        runtime.decide("tool.never", {})
    with pytest.raises(LoadError, match="there is no such file"):
        Runtime.open(extensions=[tmp_path / "nowhere"])
