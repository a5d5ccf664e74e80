"""One tool call: `tool.before`, the policy, the tool, `tool.after`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import anyio

from ..decisions import Decision
from ..jsontext import Json
from ..points import Point, Site
from .conversation import MadeCall, ToolCall
from .decider import Decider
from .events import CallEnded, Decided, LoopEvent
from .outcomes import Outcome, cancelled, checked, denied, error
from .tools import Toolbox, ToolContext

Report = Callable[[LoopEvent], None]


@dataclass(frozen=True, slots=True)
class Caller:
    """Makes calls. `recorded` holds the outcomes of calls that a session brings along: those tools are not run."""

    decider: Decider
    tools: Toolbox
    context: Callable[[Site], ToolContext]
    recorded: Mapping[str, Outcome]
    report: Report

    async def make(self, call: ToolCall, site: Site) -> MadeCall:
        """Make a call, as far as the extensions and the policy let it. Raises as the decider does."""
        asked: dict[str, Json] = {"tool": call.tool, "input": call.input}
        before = await self._decide(Point.TOOL_BEFORE, asked, site)
        final = before.payload["input"]
        changed_by = _changers(before)
        if before.denied:
            outcome = denied(before.reason, before.by.to_json() if before.by else None)
            self.report(CallEnded(call, final, outcome, "denied"))
            return MadeCall(call, final, outcome, changed_by)
        if before.handled:
            outcome, how = dict(before.outcome), "handled"
        elif call.id in self.recorded:
            outcome, how = dict(self.recorded[call.id]), "recorded"
        else:
            outcome, how = await self._run(call, final, site), "ran"
        after = await self._decide(Point.TOOL_AFTER, {"tool": call.tool, "input": final, "outcome": outcome}, site)
        outcome = dict(after.outcome)
        self.report(CallEnded(call, final, outcome, how))
        return MadeCall(call, final, outcome, changed_by)

    async def _run(self, call: ToolCall, value: Json, site: Site) -> Outcome:
        tool = self.tools.get(call.tool)
        if tool is None:
            return error(f"there is no tool {call.tool}; there are {', '.join(self.tools)}")
        try:
            return checked(call.tool, await tool.run(value, self.context(site)))
        except anyio.get_cancelled_exc_class():
            self.report(CallEnded(call, value, cancelled(), "ran"))
            raise
        except Exception as trouble:
            return error(f"{call.tool} failed: {type(trouble).__name__}: {trouble}")

    async def _decide(self, point: Point, payload: dict[str, Json], site: Site) -> Decision:
        decision = await self.decider.adecide(point, payload, site)
        self.report(Decided(decision, site, payload))
        return decision


def _changers(decision: Decision) -> tuple[str, ...]:
    """The extensions that changed the input, each once."""
    return tuple(dict.fromkeys(entry.extension for entry in decision.trail if entry.patch and entry.extension))
