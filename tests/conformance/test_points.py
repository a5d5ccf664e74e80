"""Each row of the design's tables, with a real guest, through both ways of calling it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import PAYLOADS, POINTS, Probes, interceptor
from orrery_interceptors import Config, FailureKind, Mode, Point, Site
from orrery_interceptors.points import SPECS

BOTH = pytest.mark.parametrize("marshalling", ["direct", "library"])
MODES = ("gate", "rewrite", "rewrite-only")
ALLOWED = [(point, mode) for point in POINTS for mode in MODES if SPECS[Point(point)].allows(Mode(mode))]


def ask(probes: Probes, point: str, mode: str, action: dict[str, Any], marshalling: Any = None, **more: Any) -> Any:
    runtime = probes(([interceptor("x", point, mode)], {"x": action}), marshalling=marshalling, **more)
    return runtime.decide(point, PAYLOADS[point], Site("sess", 3, 4, "main", "c1"))


@BOTH
@pytest.mark.parametrize(("point", "mode"), ALLOWED)
def test_proceed(probes: Probes, point: str, mode: str, marshalling: Any) -> None:
    decision = ask(probes, point, mode, {"t": "proceed"}, marshalling)
    assert (decision.decision, decision.changed, decision.payload) == ("proceed", False, PAYLOADS[point])
    assert decision.trail[0].fuel > 0


@BOTH
@pytest.mark.parametrize(("point", "mode"), ALLOWED)
def test_deny(probes: Probes, point: str, mode: str, marshalling: Any) -> None:
    decision = ask(probes, point, mode, {"t": "deny", "reason": "because"}, marshalling)
    if point == "context.build":
        # The contract has no deny there; the guest can only fail.
        assert not decision.denied and decision.trail[0].failure is FailureKind.GUEST_ERROR
    elif mode == "rewrite-only":
        assert not decision.denied and decision.trail[0].failure is FailureKind.INVALID_ANSWER
    else:
        assert decision.denied and decision.reason == f"x ({point}, extension probe): because"
        assert decision.by.kind == mode


REWRITES = {
    "tool.before": ({"input": {"n": 1}}, {"tool": "t", "input": {"n": 1}}),
    "tool.after": (
        {"outcome": {"t": "ok", "value": 2}},
        {"tool": "t", "input": {}, "outcome": {"t": "ok", "value": 2}},
    ),
    "context.build": (
        {"edits": [{"t": "drop-section", "id": "s"}]},
        {**PAYLOADS["context.build"], "sections": []},
    ),
    "memory.recall": ({"entries": [{"id": "b"}]}, {"query": "q", "entries": [{"id": "b", "text": "2"}]}),
    "provider.before": ({"options": {}}, {"model": "m", "options": {}}),
}


@BOTH
@pytest.mark.parametrize(("point", "mode"), ALLOWED)
def test_rewrite(probes: Probes, point: str, mode: str, marshalling: Any) -> None:
    answer, after = REWRITES[point]
    decision = ask(probes, point, mode, {"t": "rewrite", "text": json.dumps(answer)}, marshalling)
    if mode == "gate":
        assert decision.denied and decision.trail[0].failure is FailureKind.INVALID_ANSWER
    else:
        assert decision.changed and decision.payload == after and decision.trail[0].patch


@BOTH
@pytest.mark.parametrize("point", POINTS)
def test_what_a_rewrite_may_not_change(probes: Probes, point: str, marshalling: Any) -> None:
    texts = {
        "tool.before": '{"tool":"other","input":{}}',
        "tool.after": '{"input":{"x":1},"outcome":{"t":"cancelled"}}',
        "context.build": '{"sections":[]}',
        "memory.recall": '{"entries":[{"id":"a","text":"changed"}]}',
        "provider.before": '{"model":"other","options":{}}',
    }
    decision = ask(probes, point, "rewrite", {"t": "rewrite", "text": texts[point]}, marshalling)
    assert decision.trail[0].failure is FailureKind.INVALID_ANSWER
    assert decision.denied is (point != "context.build")


@BOTH
def test_handled(probes: Probes, marshalling: Any) -> None:
    action = {"t": "handled", "text": '{"t":"ok","value":{"n":9007199254740993}}'}
    decision = ask(probes, "tool.before", "rewrite", action, marshalling)
    assert decision.handled and decision.outcome == {"t": "ok", "value": {"n": 9007199254740993}}
    assert ask(probes, "tool.before", "gate", action, marshalling).denied


@BOTH
@pytest.mark.parametrize("point", POINTS)
def test_the_site_and_the_payload_arrive_whole(probes: Probes, point: str, marshalling: Any) -> None:
    if point == "context.build":
        return
    said = ask(probes, point, "rewrite", {"t": "echo-site"}, marshalling).reason.partition("): ")[2]
    assert json.loads(said) == {"session": "sess", "turn": 3, "pass": 4, "agent": "main", "call": "c1"}
    said = ask(probes, point, "rewrite", {"t": "echo-payload"}, marshalling).reason.partition("): ")[2]
    assert json.loads(said) == PAYLOADS[point]


@BOTH
def test_unicode_and_empty_texts_cross_unharmed(probes: Probes, marshalling: Any) -> None:
    text = "é漢🚀\x00\x1f" + '\\"/\u2028'
    runtime = probes(([interceptor("x")], {"x": {"t": "deny-if-contains", "text": "never"}}), marshalling=marshalling)
    for value in (text, "", {"": ""}, [], None, 1e308, -0.0, 2**64, text * 1000):
        decision = runtime.decide("tool.before", {"tool": "", "input": value}, Site("", 0, 0, "é", ""))
        assert decision.payload["input"] == value and not decision.denied


@BOTH
@pytest.mark.parametrize("point", POINTS)
def test_a_guest_that_rounds_numbers_changes_none(probes: Probes, point: str, marshalling: Any) -> None:
    payloads: dict[str, Any] = {
        **PAYLOADS,
        "context.build": {
            "sections": [],
            "recalled": [],
            "messages": [{"role": "tool", "content": [{"n": 9007199254740993}]}],
        },
        "memory.recall": {"query": "q", "entries": [{"id": 9007199254740993, "text": "1", "meta": {"n": 2**60 + 1}}]},
        "provider.before": {"model": "m", "options": {"seed": 9007199254740993}},
    }
    runtime = probes(([interceptor("x", point)], {"x": {"t": "roundtrip"}}), marshalling=marshalling)
    decision = runtime.decide(point, payloads[point])
    assert decision.trail[0].verdict == "rewrite" and decision.trail[0].failure is None
    assert decision.payload == payloads[point] and not decision.changed


FAILURES: list[tuple[dict[str, Any], FailureKind, str]] = [
    ({"t": "error", "message": "bad settings"}, FailureKind.GUEST_ERROR, "answered with an error: bad settings"),
    ({"t": "trap"}, FailureKind.TRAP, "trapped"),
    ({"t": "panic", "message": "oh"}, FailureKind.TRAP, "trapped"),
    ({"t": "recurse"}, FailureKind.STACK, "recursed beyond the stack of 512 KiB"),
    ({"t": "recurse-in-memory"}, FailureKind.TRAP, "read or wrote outside its memory"),
    ({"t": "grow", "mib": 65}, FailureKind.TRAP, "memory that was not to be had"),
    ({"t": "big", "bytes": 1024 * 1024 + 1}, FailureKind.TOO_LARGE, "is larger than 1024 KiB"),
    ({"t": "big", "bytes": 1024 * 1024 + 1, "as": "error"}, FailureKind.TOO_LARGE, "is larger than 1024 KiB"),
    ({"t": "rewrite", "text": "{"}, FailureKind.INVALID_ANSWER, "gave an invalid answer"),
]


@BOTH
@pytest.mark.parametrize(("action", "kind", "said"), FAILURES)
@pytest.mark.parametrize("mode", ["rewrite", "rewrite-only"])
def test_failures(
    probes: Probes, action: dict[str, Any], kind: FailureKind, said: str, mode: str, marshalling: Any
) -> None:
    decision = ask(probes, "tool.before", mode, action, marshalling)
    assert decision.trail[0].failure is kind
    assert said in decision.trail[0].reason
    assert decision.trail[0].reason.startswith("x (tool.before, extension probe): ")
    assert decision.denied is (mode == "rewrite")


@BOTH
@pytest.mark.parametrize("action", [{"t": "spin"}, {"t": "grow-forever"}])
def test_the_deadline(probes: Probes, action: dict[str, Any], marshalling: Any) -> None:
    config = Config.model_validate({"deadlines": {"gateMs": 30, "rewriteMs": 40}})
    gate = ask(probes, "tool.before", "gate", action, marshalling, config=config)
    assert gate.reason == "x (tool.before, extension probe): no answer within 30 ms"
    assert gate.by.kind == "deadline"
    rewrite = ask(probes, "tool.before", "rewrite", action, marshalling, config=config)
    assert rewrite.reason.endswith("no answer within 40 ms")
    assert not ask(probes, "context.build", "rewrite", action, marshalling, config=config).denied


@BOTH
def test_the_fuel(probes: Probes, marshalling: Any) -> None:
    config = Config.model_validate({"limits": {"fuel": 200_000}})
    decision = ask(probes, "tool.before", "gate", {"t": "spin"}, marshalling, config=config)
    assert decision.by.kind == "fuel" and "used up its fuel of 200000" in decision.reason
    counts = {ask(probes, "tool.before", "gate", {"t": "proceed"}, marshalling).trail[0].fuel for _ in range(3)}
    assert len(counts) == 1


@BOTH
def test_the_output_and_the_payload(probes: Probes, marshalling: Any) -> None:
    config = Config.model_validate({"limits": {"outputKiB": 1, "payloadKiB": 1}})
    large = {"t": "big", "bytes": 1025, "as": "deny"}
    assert ask(probes, "tool.before", "gate", large, marshalling, config=config).by.kind == "too-large"
    fits = {"t": "big", "bytes": 1024, "as": "deny"}
    assert ask(probes, "tool.before", "gate", fits, marshalling, config=config).by.kind == "gate"
    runtime = probes(([interceptor("x", "tool.before", "gate")], {"x": {"t": "proceed"}}), config=config)
    assert runtime.decide("tool.before", {"tool": "t", "input": "x" * 2000}).by.kind == "too-large"  # type: ignore[union-attr]
    assert not runtime.decide("tool.before", {"tool": "t", "input": "x" * 900}).denied


@BOTH
def test_no_state_passes_from_one_call_to_the_next(probes: Probes, marshalling: Any) -> None:
    actions = {"a": {"t": "remember", "text": "secret"}, "b": {"t": "recall"}, "c": {"t": "count"}}
    runtime = probes(([interceptor(name) for name in "abc"], actions), marshalling=marshalling)
    decision = runtime.decide("tool.before", PAYLOADS["tool.before"])
    assert decision.reason.endswith("): nothing")  # type: ignore[union-attr]
    runtime = probes(([interceptor("c")], {"c": {"t": "count"}}), marshalling=marshalling)
    assert {runtime.decide("tool.before", PAYLOADS["tool.before"]).reason for _ in range(3)} == {
        "c (tool.before, extension probe): 1"
    }


@BOTH
def test_log_lines_are_told_cut_and_counted(probes: Probes, caplog: pytest.LogCaptureFixture, marshalling: Any) -> None:
    config = Config.model_validate({"limits": {"logLines": 3}})
    action = {"t": "log", "lines": 10, "bytes": 9000, "level": "warn"}
    decision = ask(probes, "tool.before", "gate", action, marshalling, config=config)
    (entry,) = decision.trail
    assert len(entry.logged) == 3 and entry.dropped == 7
    assert all(level == "warn" and len(text.encode()) <= 4096 for level, text in entry.logged)
    assert "7 more log lines" in caplog.text
    action = {"t": "log", "lines": 1, "bytes": 5, "level": "info", "text": "\x1b[2J\u202ehi"}
    ask(probes, "tool.before", "gate", action, marshalling)
    assert "\x1b" not in caplog.text and "\u202e" not in caplog.text


def test_an_interceptor_is_asked_only_for_its_tools_and_agents(probes: Probes) -> None:
    runtime = probes(
        ([interceptor("x", tools=["builtin.*"], agents=["main", "rev*"])], {"x": {"t": "deny", "reason": "no"}})
    )
    for tool, agent, denied in [
        ("builtin.bash", "main", True),
        ("builtin.bash", "reviewer", True),
        ("builtin.bash", "other", False),
        ("Builtin.bash", "main", False),
        ("xbuiltin.bash", "main", False),
    ]:
        assert runtime.decide("tool.before", {"tool": tool, "input": {}}, Site(agent=agent)).denied is denied


def test_layers_are_asked_closest_first(probes: Probes) -> None:
    from orrery_interceptors.config import Layer

    append = {"t": "set", "pointer": "/-", "value": 1}
    runtime = probes(
        ([interceptor("a")], {"a": append, "$layer": Layer.MANAGED}),
        ([interceptor("b")], {"b": append, "$layer": Layer.PROJECT}),
        ([interceptor("c")], {"c": append, "$layer": Layer.USER}),
    )
    decision = runtime.decide("tool.before", {"tool": "t", "input": [0]})
    assert [entry.interceptor for entry in decision.trail] == ["b", "c", "a"]
    assert decision.payload["input"] == [0, 1, 1, 1]


def test_two_gates_that_compute_run_side_by_side(probes: Probes) -> None:
    spin = {"t": "spin-ms-ish", "iterations": 1000, "then": {"t": "deny", "reason": "done"}}
    gates = [interceptor(name, mode="gate") for name in "ab"]
    runtime = probes((gates, {"a": spin, "b": spin}))
    decision = runtime.decide("tool.before", {"tool": "t", "input": {}})
    assert sorted(str(entry.ran) for entry in decision.trail) == ["inline", "thread"]
    assert [entry.interceptor for entry in decision.trail] == ["a", "b"]
