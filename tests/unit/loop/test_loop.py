"""The loop, with a decider that does as it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from orrery_interceptors.config import Budget
from orrery_interceptors.decisions import Decision, TrailEntry
from orrery_interceptors.loop import CallEnded, Decided, Loop, LoopEvent, Setting, Toolbox, ToolContext, Workspace
from orrery_interceptors.loop.conversation import ToolCall
from orrery_interceptors.loop.provider import Request, Response, Usage
from orrery_interceptors.points import Point, Site
from orrery_interceptors.verdicts import By

pytestmark = pytest.mark.anyio
Answer = Callable[[dict[str, Any]], Decision | None]


def proceed(point: Point, payload: Mapping[str, Any]) -> Decision:
    return Decision(point, "proceed", False, dict(payload), None, None, ())


class Decider:
    """Proceeds, but where a point has an answer of its own. Keeps what it was asked."""

    def __init__(self, **answers: Answer) -> None:
        self.answers = {name.replace("_", "."): answer for name, answer in answers.items()}
        self.asked: list[tuple[Point, dict[str, Any], Site]] = []

    async def adecide(self, point: Point, payload: Mapping[str, Any], site: Site) -> Decision:
        self.asked.append((point, dict(payload), site))
        answer = self.answers.get(point)
        return (answer(dict(payload)) if answer else None) or proceed(point, payload)


class Model:
    """Answers in order, and keeps the requests."""

    def __init__(self, *answers: Response) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Response | None:
        self.requests.append(request)
        return self.answers.pop(0) if self.answers else None


class Tool:
    name = "t"
    schema: dict[str, Any] = {"type": "object", "description": "x"}  # noqa: RUF012  # a test's

    def __init__(self, result: Any = None) -> None:
        self.result = result if result is not None else {"t": "ok", "value": "done"}
        self.inputs: list[Any] = []

    async def run(self, input: Any, context: ToolContext) -> Any:
        self.inputs.append(input)
        if isinstance(self.result, BaseException):
            raise self.result
        if self.result == "wait":
            await anyio.sleep_forever()
        return self.result


def call(name: str = "c", tool: str = "t", value: Any = None) -> ToolCall:
    return ToolCall(name, tool, value if value is not None else {"a": 1})


async def run(
    folder: Path, decider: Decider, model: Model, tool: Tool | None = None, turns: int = 1, **more: Any
) -> tuple[Loop, list[LoopEvent]]:
    events: list[LoopEvent] = []
    with Workspace(folder) as workspace:
        loop = Loop(
            decider,
            model,
            workspace,
            tools=Toolbox([tool or Tool()]),
            memory=more.pop("memory", None),
            setting=Setting(**more),
            report=events.append,
        )
        await loop.run(["hi"] * turns)
    return loop, events


def deny(point: Point, payload: dict[str, Any]) -> Decision:
    by = By("e", "x", "gate")
    return Decision(point, "deny", False, payload, "because", by, (TrailEntry("e", "x", "gate", "deny"),))


async def test_the_points_are_asked_in_order(folder: Path) -> None:
    class Memory:
        async def recall(self, query: str) -> list[dict[str, Any]]:
            return [{"id": "m", "text": "noted"}]

    decider, model = Decider(), Model(Response("a", (call(),)), Response("b"))
    await run(folder, decider, model, memory=Memory(), sections=[{"id": "s", "text": "be kind"}])
    first = [point for point, _, _ in decider.asked[:5]]
    assert first == ["memory.recall", "context.build", "provider.before", "tool.before", "tool.after"]
    assert [(site.turn, site.pass_, site.call) for _, _, site in decider.asked[:5]] == [
        (1, 0, None),
        (1, 1, None),
        (1, 1, None),
        (1, 1, "c"),
        (1, 1, "c"),
    ]
    assert model.requests[0].system == "be kind\n\nWhat is remembered:\n- noted"
    assert [message["role"] for message in model.requests[1].messages] == ["user", "assistant", "tool"]


async def test_a_denied_call_is_not_made_and_the_model_is_told(folder: Path) -> None:
    decider = Decider(tool_before=lambda payload: deny(Point.TOOL_BEFORE, payload))
    model, tool = Model(Response("", (call(),)), Response("ok")), Tool()
    loop, events = await run(folder, decider, model, tool)
    assert not tool.inputs and loop.summary.denied == 1
    assert model.requests[1].messages[-1]["content"] == "denied: because"
    assert Point.TOOL_AFTER not in [point for point, _, _ in decider.asked]
    assert [event.how for event in events if isinstance(event, CallEnded)] == ["denied"]


async def test_a_handled_call_is_not_made_and_goes_through_tool_after(folder: Path) -> None:
    def handle(payload: dict[str, Any]) -> Decision:
        payload["outcome"] = {"t": "ok", "value": "canned"}
        return Decision(Point.TOOL_BEFORE, "handled", False, payload, None, By("e", "x", "rewrite"), ())

    decider, tool = Decider(tool_before=handle), Tool()
    model = Model(Response("", (call(),)), Response("ok"))
    await run(folder, decider, model, tool)
    assert not tool.inputs and model.requests[1].messages[-1]["content"] == "canned"
    after = next(payload for point, payload, _ in decider.asked if point is Point.TOOL_AFTER)
    assert after["outcome"] == {"t": "ok", "value": "canned"}


async def test_a_changed_input_is_what_runs_and_what_the_model_reads(folder: Path) -> None:
    def change(payload: dict[str, Any]) -> Decision:
        entry = TrailEntry("guard", "x", "rewrite", "rewrite", patch=({"op": "add", "path": "/input/b", "value": 2},))
        return Decision(Point.TOOL_BEFORE, "proceed", True, {"tool": "t", "input": {"b": 2}}, None, None, (entry,))

    model, tool = Model(Response("", (call(),)), Response("ok")), Tool()
    await run(folder, Decider(tool_before=change), model, tool)
    assert tool.inputs == [{"b": 2}]
    assistant, told = model.requests[1].messages[-2:]
    assert assistant["tool_calls"][0]["input"] == {"b": 2}
    assert told["content"].startswith("[the input of this call was changed by guard]")


async def test_what_context_build_left_is_what_is_sent(folder: Path) -> None:
    def edit(payload: dict[str, Any]) -> Decision:
        payload["sections"] = [{"id": "x", "text": "other"}]
        payload["messages"] = payload["messages"][:1]
        return Decision(Point.CONTEXT_BUILD, "proceed", True, payload, None, None, ())

    model = Model(Response("", (call(),)), Response("ok"))
    await run(folder, Decider(context_build=edit), model, sections=[{"id": "s", "text": "mine"}])
    assert model.requests[1].system == "other" and len(model.requests[1].messages) == 1


async def test_a_denied_request_is_not_sent_and_the_turn_ends(folder: Path) -> None:
    model = Model(Response("x"))
    decider = Decider(provider_before=lambda payload: deny(Point.PROVIDER_BEFORE, payload))
    loop, events = await run(folder, decider, model, turns=2)
    assert not model.requests and loop.summary.turns == 2 and loop.summary.denied == 2
    assert [event.decision.point for event in events if isinstance(event, Decided)].count(Point.PROVIDER_BEFORE) == 2


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (RuntimeError("broken"), "error: t failed: RuntimeError: broken"),
        ({"t": "what"}, "error: t returned no outcome"),
        ({"t": "ok", "value": float("nan")}, "error: t returned what no JSON text can carry"),
        ({"t": "error", "message": "no"}, "error: no"),
    ],
)
async def test_a_tool_that_fails_is_an_outcome(folder: Path, result: Any, said: str) -> None:
    model = Model(Response("", (call(),)), Response("ok"))
    await run(folder, Decider(), model, Tool(result))
    assert model.requests[1].messages[-1]["content"].startswith(said)


async def test_a_tool_that_is_not_there_is_said(folder: Path) -> None:
    model = Model(Response("", (call(tool="nope"),)), Response("ok"))
    await run(folder, Decider(), model)
    assert model.requests[1].messages[-1]["content"] == "error: there is no tool nope; there are t"


async def test_a_recorded_outcome_stands_for_the_tool(folder: Path) -> None:
    tool = Tool()
    model = Model(Response("", (call("r"),)), Response("ok"))
    await run(folder, Decider(), model, tool, recorded={"r": {"t": "ok", "value": "then"}})
    assert not tool.inputs and model.requests[1].messages[-1]["content"] == "then"


@pytest.mark.parametrize(
    ("budget", "key"),
    [
        ({"calls": 1}, "budget.calls"),
        ({"passes": 2}, "budget.passes"),
        ({"tokens": 10}, "budget.tokens"),
        ({"seconds": 0.05}, "budget.seconds"),
    ],
)
async def test_budgets_stop_it_by_name(folder: Path, budget: dict[str, Any], key: str) -> None:
    answers = [Response("", (call(f"c{index}"), call(f"d{index}")), Usage(3, 4)) for index in range(5)]
    tool = Tool("wait" if "seconds" in budget else None)
    loop, _ = await run(folder, Decider(), Model(*answers), tool, budget=Budget.model_validate(budget))
    assert loop.summary.stopped is not None and loop.summary.stopped.key == key


async def test_a_cancelled_run_says_which_call_was_broken_off(folder: Path) -> None:
    events: list[LoopEvent] = []
    with Workspace(folder) as workspace:
        model = Model(Response("", (call(),)))
        loop = Loop(Decider(), model, workspace, tools=Toolbox([Tool("wait")]), report=events.append)
        with anyio.move_on_after(0.05):
            await loop.run(["hi"])
    ended = [event for event in events if isinstance(event, CallEnded)]
    assert [event.outcome["t"] for event in ended] == ["cancelled"]
