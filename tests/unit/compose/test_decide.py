"""Composition, with plain functions in place of guests (design, sections 3 to 5)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from orrery_interceptors.compose import DefaultRule, Refusal, decide, make_plan
from orrery_interceptors.compose.texts import Texts
from orrery_interceptors.decisions import Decision
from orrery_interceptors.jsontext import dumps
from orrery_interceptors.points import Mode, Point, Site
from orrery_interceptors.rules import Default
from orrery_interceptors.verdicts import Answer, Failure, FailureKind, Reply, Verdict

CALL = {"tool": "t", "input": {"n": 9007199254740993, "keep": [1.0, "x"]}}
SITE = Site("s", 1, 1)


@dataclass
class Fake:
    """An interceptor that answers what it is told to."""

    answer: Verdict | Failure | Callable[[Texts], Verdict]
    mode: Mode = Mode.REWRITE
    name: str = "x"
    extension: str = "e"
    expected_us: float | None = 1.0
    seen: list[Texts] = field(default_factory=list)

    def ask(self, point: Point, site: Site, texts: Texts) -> Reply:
        self.seen.append(texts)
        answer = self.answer(texts) if callable(self.answer) else self.answer
        return Reply(answer)


def run(
    *interceptors: Fake, point: Point = Point.TOOL_BEFORE, payload: Any = None, cap: int = 8, **more: Any
) -> Decision:
    plan = make_plan(more.pop("refusals", []), more.pop("defaults", []), list(interceptors), cap)
    return decide(plan, point, payload or CALL, SITE, **more)


def deny(reason: str = "no") -> Verdict:
    return Verdict(Answer.DENY, reason)


def rewrite(**members: Any) -> Verdict:
    return Verdict(Answer.REWRITE, dumps(members))


PROCEED = Verdict(Answer.PROCEED)
GATE, ONLY = Mode.GATE, Mode.REWRITE_ONLY


def test_nothing_matching_changes_nothing() -> None:
    decision = run()
    assert (decision.decision, decision.changed, decision.payload, decision.trail) == ("proceed", False, CALL, ())


def test_a_rewrite_touches_only_what_it_changed() -> None:
    decision = run(Fake(rewrite(input={"keep": [1, "x"], "n": 9007199254740992, "new": True})))
    assert decision.payload == {"tool": "t", "input": {"n": 9007199254740993, "keep": [1.0, "x"], "new": True}}
    assert list(decision.payload["input"]) == ["n", "keep", "new"]
    assert decision.trail[0].patch == ({"op": "add", "path": "/input/new", "value": True},)
    assert CALL == {"tool": "t", "input": {"n": 9007199254740993, "keep": [1.0, "x"]}}


def test_rewrites_chain_and_gates_see_what_they_left() -> None:
    first, second = Fake(rewrite(input={"a": 1})), Fake(rewrite(input={"a": 1, "b": 2}))
    gate = Fake(PROCEED, GATE)
    decision = run(gate, first, second)
    assert second.seen[0].fields[1] == b'{"a":1}'
    assert gate.seen[0].fields[1] == b'{"a":1,"b":2}'
    assert [entry.mode for entry in decision.trail] == ["rewrite", "rewrite", "gate"]


def test_a_deny_stops_the_chain_at_once() -> None:
    later, gate = Fake(PROCEED), Fake(deny("gate"), GATE)
    decision = run(Fake(deny("first")), later, gate)
    assert decision.denied and decision.reason == "x (tool.before, extension e): first"
    assert decision.by is not None and decision.by.kind == "rewrite"
    assert not later.seen and not gate.seen


def test_handled_ends_the_chain_and_gates_still_decide() -> None:
    handled = Verdict(Answer.HANDLED, '{"t":"ok","value":1}')
    later, gate = Fake(PROCEED), Fake(PROCEED, GATE)
    decision = run(Fake(handled), later, gate)
    assert decision.handled and decision.outcome == {"t": "ok", "value": 1}
    assert not later.seen and gate.seen
    assert run(Fake(handled), Fake(deny(), GATE)).denied


def test_all_denials_are_kept_and_the_first_by_order_gives_the_reason() -> None:
    decision = run(Fake(PROCEED, GATE), Fake(deny("b"), GATE, "b"), Fake(deny("c"), GATE, "c"))
    assert decision.reason == "b (tool.before, extension e): b"
    assert [entry.verdict for entry in decision.trail] == ["proceed", "deny", "deny"]


def test_the_order_of_denials_does_not_depend_on_who_is_first_to_finish() -> None:
    with ThreadPoolExecutor(4) as pool:

        def submit(job: Callable[[], Reply]) -> Future[Reply]:
            return pool.submit(job)

        for turn in range(200):
            later = threading.Event()

            def slow(texts: Texts, later: threading.Event = later) -> Verdict:
                assert later.wait(10)
                return deny("slow")

            def quick(texts: Texts, later: threading.Event = later) -> Verdict:
                later.set()
                return deny("quick")

            gates = [Fake(slow, GATE, "slow", expected_us=None), Fake(quick, GATE, "quick", expected_us=None)]
            if turn % 2:
                gates.reverse()
            decision = run(*gates, submit=submit)
            assert decision.reason == f"{gates[0].name} (tool.before, extension e): {gates[0].name}"


def test_tiny_gates_are_asked_here_and_slow_ones_on_threads() -> None:
    def submit(job: Callable[[], Reply]) -> Future[Reply]:
        raise AssertionError("a tiny gate was sent to a thread")

    run(Fake(PROCEED, GATE), Fake(PROCEED, GATE), submit=submit)
    sent: list[int] = []

    def count(job: Callable[[], Reply]) -> Future[Reply]:
        sent.append(1)
        future: Future[Reply] = Future()
        future.set_result(job())
        return future

    decision = run(*[Fake(PROCEED, GATE, expected_us=5000) for _ in range(3)], submit=count)
    assert len(sent) == 2
    assert sorted(str(entry.ran) for entry in decision.trail) == ["inline", "thread", "thread"]


KINDS = [kind for kind in FailureKind if kind not in (FailureKind.CAP, FailureKind.BAD_PAYLOAD)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("point", Point)
def test_failures_follow_the_mode(kind: FailureKind, mode: Mode, point: Point) -> None:
    payloads = {
        Point.TOOL_BEFORE: CALL,
        Point.TOOL_AFTER: {"tool": "t", "input": {}, "outcome": {"t": "ok", "value": 1}},
        Point.CONTEXT_BUILD: {"sections": [], "recalled": [], "messages": []},
        Point.MEMORY_RECALL: {"query": "q", "entries": [{"id": 1, "text": "x"}]},
        Point.PROVIDER_BEFORE: {"model": "m", "options": {}},
    }
    decision = run(Fake(Failure(kind, "why", 5), mode), point=point, payload=payloads[point])
    closed = point is not Point.CONTEXT_BUILD and mode is not ONLY
    assert decision.denied is closed
    assert decision.trail[0].failure is kind
    assert decision.trail[0].reason == f"x ({point}, extension e): why"
    if closed:
        assert decision.by is not None and decision.by.kind == kind
    else:
        assert decision.payload == payloads[point] and not decision.changed


@pytest.mark.parametrize(
    ("point", "mode", "verdict"),
    [
        (Point.TOOL_BEFORE, GATE, rewrite(input={})),
        (Point.TOOL_BEFORE, GATE, Verdict(Answer.HANDLED, '{"t":"cancelled"}')),
        (Point.TOOL_BEFORE, ONLY, deny()),
        (Point.TOOL_BEFORE, Mode.REWRITE, rewrite(tool="other", input={})),
        (Point.TOOL_BEFORE, Mode.REWRITE, rewrite(tool="t")),
        (Point.TOOL_BEFORE, Mode.REWRITE, rewrite(input={}, extra=1)),
        (Point.TOOL_BEFORE, Mode.REWRITE, Verdict(Answer.REWRITE, "[1]")),
        (Point.TOOL_BEFORE, Mode.REWRITE, Verdict(Answer.REWRITE, "{")),
        (Point.TOOL_BEFORE, Mode.REWRITE, Verdict(Answer.REWRITE, '{"input":NaN}')),
        (Point.TOOL_BEFORE, Mode.REWRITE, Verdict(Answer.REWRITE, '{"input":1,"input":2}')),
        (Point.TOOL_BEFORE, Mode.REWRITE, Verdict(Answer.REWRITE, '{"input":"\\ud800"}')),
        (Point.TOOL_BEFORE, Mode.REWRITE, Verdict(Answer.REWRITE, '{"input":' + "[" * 200 + "]" * 200 + "}")),
        (Point.TOOL_BEFORE, Mode.REWRITE, Verdict(Answer.HANDLED, '{"t":"what"}')),
        (Point.TOOL_BEFORE, Mode.REWRITE, Verdict(Answer.HANDLED, '{"t":"denied","reason":"x"}')),
        (Point.TOOL_AFTER, Mode.REWRITE, rewrite(outcome={"t": "ok"})),
        (Point.TOOL_AFTER, Mode.REWRITE, rewrite(input={"other": 1}, outcome={"t": "cancelled"})),
        (Point.TOOL_AFTER, Mode.REWRITE, rewrite(outcome={"t": "denied", "reason": "r", "by": None})),
        (Point.TOOL_AFTER, Mode.REWRITE, Verdict(Answer.HANDLED, '{"t":"cancelled"}')),
        (Point.MEMORY_RECALL, Mode.REWRITE, rewrite(entries=[{"id": 2, "text": "y"}])),
        (Point.MEMORY_RECALL, Mode.REWRITE, rewrite(entries=[{"id": 1, "text": "changed"}])),
        (Point.MEMORY_RECALL, Mode.REWRITE, rewrite(entries=[{"id": 1}, {"id": 1}])),
        (Point.MEMORY_RECALL, Mode.REWRITE, rewrite(query="other", entries=[])),
        (Point.PROVIDER_BEFORE, Mode.REWRITE, rewrite(options=[])),
        (Point.PROVIDER_BEFORE, Mode.REWRITE, rewrite(model="other", options={})),
    ],
)
def test_answers_that_are_none(point: Point, mode: Mode, verdict: Verdict) -> None:
    payloads: dict[Point, Any] = {
        Point.TOOL_BEFORE: CALL,
        Point.TOOL_AFTER: {"tool": "t", "input": {}, "outcome": {"t": "ok", "value": 1}},
        Point.MEMORY_RECALL: {"query": "q", "entries": [{"id": 1, "text": "x"}]},
        Point.PROVIDER_BEFORE: {"model": "m", "options": {}},
    }
    decision = run(Fake(verdict, mode), point=point, payload=payloads[point])
    assert decision.trail[0].failure is FailureKind.INVALID_ANSWER
    assert decision.denied is (mode is not ONLY)


def test_entries_are_kept_and_ordered_with_what_they_hold() -> None:
    entries = [{"id": 1, "text": "x", "meta": {"n": 2**60 + 1}}, {"id": "b", "text": "y"}, {"id": 1, "text": "z"}]
    payload = {"query": "q", "entries": entries}
    answer = rewrite(entries=[{"id": 1.0, "text": "z"}, {"id": 1}])
    decision = run(Fake(answer), point=Point.MEMORY_RECALL, payload=payload)
    assert decision.payload["entries"] == [entries[2], entries[0]]
    assert run(Fake(deny()), point=Point.MEMORY_RECALL, payload=payload).payload["entries"] == []


def test_what_a_deny_after_the_tool_leaves() -> None:
    payload = {"tool": "t", "input": {}, "outcome": {"t": "ok", "value": "secret"}}
    decision = run(Fake(deny("leak"), GATE), point=Point.TOOL_AFTER, payload=payload)
    assert decision.outcome["t"] == "denied" and "secret" not in dumps(decision.to_json())
    assert decision.outcome["by"] == {"extension": "e", "interceptor": "x", "kind": "gate"}


def test_context_is_edited_all_or_none() -> None:
    payload = {"sections": [], "recalled": [{"id": "m", "text": "x"}], "messages": [{"role": "user", "content": "a"}]}
    good = {"t": "add-section", "id": "s", "text": "hi"}
    decision = run(
        Fake(rewrite(edits=[good, {"t": "drop-recalled", "id": "m"}])), point=Point.CONTEXT_BUILD, payload=payload
    )
    assert decision.payload["sections"] == [{"id": "s", "text": "hi"}] and decision.payload["recalled"] == []
    bad = run(
        Fake(rewrite(edits=[good, {"t": "drop-message", "index": 7}])), point=Point.CONTEXT_BUILD, payload=payload
    )
    assert bad.payload == payload and bad.trail[0].failure is FailureKind.INVALID_ANSWER and not bad.denied


def test_refusals_come_first_and_nobody_is_asked() -> None:
    asked = Fake(PROCEED)
    refusals = [Refusal("a", "rule", "rule says"), Refusal("b", "load", "cannot load")]
    decision = run(asked, refusals=refusals)
    assert decision.denied and decision.reason == "rule says" and not asked.seen
    assert [entry.mode for entry in decision.trail] == ["rule", "load"]


def test_defaults_fill_what_is_left_out_and_the_first_wins() -> None:
    rules = [
        DefaultRule("near", Default(tool="t", pointer="/timeout", value=1)),
        DefaultRule("far", Default(tool="t", pointer="/timeout", value=2)),
        DefaultRule("far", Default(tool="t", pointer="/n", value=3)),
        DefaultRule("far", Default(tool="t", pointer="/keep/x", value=3)),
    ]
    decision = run(defaults=rules)
    assert decision.payload["input"] == {"n": 9007199254740993, "keep": [1.0, "x"], "timeout": 1}
    assert [(entry.extension, entry.verdict) for entry in decision.trail] == [("near", "rewrite"), ("far", None)]
    null = run(defaults=rules, payload={"tool": "t", "input": {"timeout": None, "n": 1, "keep": 1}})
    assert null.payload["input"]["timeout"] is None and not null.changed


def test_the_policy_has_the_last_word_on_the_final_input() -> None:
    seen: list[Any] = []

    def policy(tool: str, value: Any, site: Site) -> str | None:
        seen.append(value)
        return "forbidden" if value.get("bad") else None

    decision = run(Fake(rewrite(input={"bad": True})), policy=policy)
    assert decision.denied and decision.by is not None and decision.by.kind == "policy"
    assert seen == [{"bad": True}]
    handled = Verdict(Answer.HANDLED, '{"t":"ok","value":1}')
    assert run(Fake(handled), policy=lambda tool, value, site: "no").denied
    assert not run(Fake(PROCEED), policy=lambda tool, value, site: None).denied

    def broken(tool: str, value: Any, site: Site) -> str | None:
        raise RuntimeError("oops")

    assert run(policy=broken).denied


def test_beyond_the_cap_interceptors_fail_by_their_mode() -> None:
    asked = [Fake(PROCEED, GATE, f"g{index}") for index in range(3)]
    decision = run(*asked, cap=2)
    assert decision.denied and decision.by is not None and decision.by.kind == "cap" and not asked[2].seen
    skipped = run(Fake(PROCEED), Fake(rewrite(input=1), ONLY), cap=1)
    assert not skipped.denied and not skipped.changed and skipped.trail[1].failure is FailureKind.CAP


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1, 2}])
def test_a_payload_without_a_text_fails_by_mode(value: Any) -> None:
    payload = {"tool": "t", "input": {"x": value}}
    assert run(Fake(PROCEED, GATE), payload=payload).trail[0].failure is FailureKind.BAD_PAYLOAD
    assert run(Fake(PROCEED, GATE), payload=payload).denied
    assert not run(Fake(PROCEED, ONLY), payload=payload).denied


def test_a_host_that_fails_while_asking_denies() -> None:
    def broken(texts: Texts) -> Verdict:
        raise RuntimeError("defect")

    decision = run(Fake(broken, GATE))
    assert decision.denied and decision.trail[0].failure is FailureKind.HOST


def test_reasons_are_cleaned_cut_and_never_empty() -> None:
    decision = run(Fake(deny("\x1b[31m\u202eevil\u200b\n\x00" + "x" * 5000), GATE))
    assert decision.reason is not None and len(decision.reason.encode()) <= 1024
    assert decision.reason.isprintable() and decision.reason.startswith("x (tool.before, extension e): [31mevil")
    assert run(Fake(deny("\u200b"), GATE)).reason == "x (tool.before, extension e): denied, no reason given"


def test_a_guest_that_rounds_numbers_changes_nothing() -> None:
    payload = {"tool": "t", "input": {"big": 2**53 + 1, "deep": [{"n": -(2**60) - 1}], "f": 0.1}}
    rounded = {"big": float(2**53 + 1), "deep": [{"n": float(-(2**60) - 1)}], "f": 0.1}
    decision = run(Fake(rewrite(input=rounded)), payload=payload)
    assert decision.payload == payload and not decision.changed and decision.trail[0].patch == ()
