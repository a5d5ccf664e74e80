"""Composition against a plain model of it: any set of rules, rewrites, gates and failures."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orrery_interceptors.compose import Refusal, decide, make_plan
from orrery_interceptors.compose.texts import Texts
from orrery_interceptors.jsontext import dumps, loads
from orrery_interceptors.points import Mode, Point, Site
from orrery_interceptors.verdicts import Answer, Failure, FailureKind, Reply, Verdict

CALL: dict[str, Any] = {"tool": "t", "input": {"log": []}}


@dataclass
class Scripted:
    """Answers by its script; a rewrite adds its number to the input's log."""

    number: int
    mode: Mode
    script: str
    expected_us: float | None
    extension: str = "e"

    @property
    def name(self) -> str:
        return f"i{self.number}"

    def ask(self, point: Point, site: Site, texts: Texts) -> Reply:
        text = texts.fields[1]
        assert isinstance(text, bytes)
        value = loads(text)
        match self.script:
            case "deny":
                return Reply(Verdict(Answer.DENY, f"no {self.number}"))
            case "rewrite":
                changed = {**value, "log": [*value["log"], self.number]}
                return Reply(Verdict(Answer.REWRITE, dumps({"input": changed})))
            case "handled":
                return Reply(Verdict(Answer.HANDLED, dumps({"t": "ok", "value": self.number})))
            case "fail":
                return Reply(Failure(FailureKind.TRAP, "trapped"))
            case "nonsense":
                return Reply(Verdict(Answer.REWRITE, "{"))
        return Reply(Verdict(Answer.PROCEED))


def modelled(
    refused: bool, interceptors: list[Scripted], cap: int, policy: bool
) -> tuple[str, list[int], str | None, int | None]:
    """The decision, the log that goes on, who decided (by kind), and the value of a handled call."""
    if refused:
        return "deny", [], "rule", None
    log: list[int] = []
    handled: int | None = None
    numbered = list(enumerate(interceptors))
    for index, one in numbered:
        if one.mode is Mode.GATE:
            continue
        answer = "cap" if index >= cap else one.script
        if answer == "deny" and one.mode is Mode.REWRITE_ONLY:
            answer = "nonsense"
        if answer in ("cap", "fail", "nonsense"):
            if one.mode is Mode.REWRITE:
                return "deny", log, {"cap": "cap", "fail": "trap", "nonsense": "invalid-answer"}[answer], None
        elif answer == "deny":
            return "deny", log, "rewrite", None
        elif answer == "rewrite":
            log = [*log, one.number]
        elif answer == "handled":
            handled = one.number
            break
    for index, one in numbered:
        if one.mode is Mode.GATE:
            answer = "cap" if index >= cap else one.script
            if answer in ("rewrite", "handled", "nonsense"):
                return "deny", log, "invalid-answer", None
            if answer in ("cap", "fail"):
                return "deny", log, {"cap": "cap", "fail": "trap"}[answer], None
            if answer == "deny":
                return "deny", log, "gate", None
    if policy:
        return "deny", log, "policy", None
    return ("handled" if handled is not None else "proceed"), log, None, handled


SCRIPTS = st.sampled_from(["proceed", "proceed", "rewrite", "rewrite", "deny", "handled", "fail", "nonsense"])
INTERCEPTORS = st.lists(st.tuples(st.sampled_from(Mode), SCRIPTS, st.sampled_from([None, 1.0, 9999.0])), max_size=10)


@settings(max_examples=400, deadline=None)
@given(st.booleans(), INTERCEPTORS, st.integers(1, 12), st.booleans(), st.randoms(use_true_random=False))
def test_the_decision_is_the_models(refused: bool, drawn: Any, cap: int, policy: bool, random: Random) -> None:
    interceptors = [Scripted(index, mode, script, us) for index, (mode, script, us) in enumerate(drawn)]
    refusals = [Refusal("r", "rule", "refused")] if refused else []
    plan = make_plan(refusals, [], list(interceptors), cap)
    expected, log, kind, handled = modelled(refused, interceptors, cap, policy)

    waiting: list[tuple[Future[Reply], Callable[[], Reply]]] = []

    class Later(Future[Reply]):
        """Runs when it is asked for, after all others that wait, in any order."""

        def result(self, timeout: float | None = None) -> Reply:
            random.shuffle(waiting)
            while waiting:
                future, job = waiting.pop()
                future.set_result(job())
            return super().result(timeout)

    def submit(job: Callable[[], Reply]) -> Future[Reply]:
        future = Later()
        waiting.append((future, job))
        return future

    made = [
        decide(plan, Point.TOOL_BEFORE, CALL, Site(), policy=(lambda *_: "no") if policy else None, submit=way)
        for way in (None, submit, submit)
    ]
    for decision in made:
        assert decision.decision == expected
        assert decision.payload["input"]["log"] == log
        assert decision.changed is bool(log)
        assert (decision.by.kind if decision.denied and decision.by else None) == kind
        if expected == "handled":
            assert decision.outcome == {"t": "ok", "value": handled}
        assert (decision.reason is not None) is (expected == "deny")
    # Where something ran and how long it took may differ; what was said may not.
    said = [[{**entry.to_json(), "ran": None, "durationUs": 0} for entry in one.trail] for one in made]
    assert said[0] == said[1] == said[2]
    assert CALL == {"tool": "t", "input": {"log": []}}


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(Point),
    st.sampled_from(Mode),
    st.sampled_from(Answer),
    st.text() | st.binary().map(lambda b: b.decode("latin-1")),
)
def test_any_answer_whatever_is_an_answer_or_a_failure(point: Point, mode: Mode, answer: Answer, text: str) -> None:
    payloads: dict[Point, Any] = {
        Point.TOOL_BEFORE: CALL,
        Point.TOOL_AFTER: {"tool": "t", "input": {}, "outcome": {"t": "ok", "value": 1}},
        Point.CONTEXT_BUILD: {"sections": [], "recalled": [], "messages": []},
        Point.MEMORY_RECALL: {"query": "q", "entries": []},
        Point.PROVIDER_BEFORE: {"model": "m", "options": {}},
    }

    class Answering(Scripted):
        def ask(self, point: Point, site: Site, texts: Texts) -> Reply:
            return Reply(Verdict(answer, text))

    plan = make_plan([], [], [Answering(0, mode, "", 1.0)], 8)
    decision = decide(plan, point, payloads[point], Site())
    if decision.denied:
        assert decision.reason and decision.reason.isprintable() and len(decision.reason.encode()) <= 1024
    elif decision.trail[0].failure is not None:
        assert decision.payload == payloads[point]
