"""The loop: turns of requests and tool calls, with the five points in order."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import anyio

from ..config import Budget
from ..jsontext import Json
from ..points import Point, Site
from .calls import Caller, Report
from .context import ContextBuilder
from .conversation import Conversation, MadeCall
from .decider import Decider
from .events import Answered, Decided, LoopEvent, Stopped, Summary, TurnStarted
from .memory import Entry, Memory
from .outcomes import Outcome
from .provider import OfferedTool, Provider, Request, Response
from .tools import Toolbox, ToolContext, ToolLimits, Workspace, builtin_tools


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run is about: who acts, with which model and prompt, and what bounds it."""

    session: str = "session"
    agent: str = "main"
    model: str = "scripted"
    options: Mapping[str, Json] = field(default_factory=dict)
    sections: Sequence[Mapping[str, Json]] = ()
    recorded: Mapping[str, Outcome] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    budget_tokens: int | None = None
    limits: ToolLimits = field(default_factory=ToolLimits)


class _BudgetError(Exception):
    """A budget is used up."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(why)
        self.key = key


class Loop:
    """Runs turns: recall, context, request, calls, until the model asks for no more tools.

    `report` is told what happens, in order. A denied call does not end a turn: the model is told.
    """

    def __init__(
        self,
        decider: Decider,
        provider: Provider,
        workspace: Workspace,
        *,
        tools: Toolbox | None = None,
        memory: Memory | None = None,
        setting: Setting | None = None,
        report: Report = lambda event: None,
    ) -> None:
        self.setting = setting = setting or Setting()
        self.summary = Summary()
        self._decider = decider
        self._provider = provider
        self._memory = memory
        self._tools = builtin_tools() if tools is None else tools
        self._report = report
        self._conversation = Conversation()
        sections = [dict(section) for section in setting.sections]
        self._builder = ContextBuilder(decider, sections, setting.budget_tokens)
        self._caller = Caller(
            decider,
            self._tools,
            lambda site: ToolContext(workspace, site, setting.limits),
            setting.recorded,
            self._told,
        )
        self._offered = tuple(OfferedTool(name, tool.schema) for name, tool in self._tools.items())

    async def run(self, turns: Sequence[str]) -> Summary:
        """Run the turns that these messages of the user begin; may be called again to go on.

        Raises `ProviderError` when the model cannot be asked, `MemoryStoreError` when memory cannot, and what the
        decider raises.
        """
        started = time.monotonic()
        budget = self.setting.budget
        try:
            with anyio.fail_after(budget.seconds):
                for text in turns:
                    await self._turn(text)
        except _BudgetError as used:
            self._stop(str(used), used.key)
        except TimeoutError:
            self._stop(f"the budget of {budget.seconds} s is used up", "budget.seconds")
        finally:
            self.summary.seconds += time.monotonic() - started
        return self.summary

    async def _turn(self, text: str) -> None:
        self.summary.turns += 1
        site = Site(self.setting.session, self.summary.turns, 0, self.setting.agent)
        self._report(TurnStarted(site.turn, text))
        self._conversation.hear(text)
        recalled = await self._recall(text, site)
        most = self.setting.budget.passes
        for number in range(1, most + 1):
            response = await self._ask(recalled, replace(site, pass_=number))
            if response is None or not response.calls:
                return
        raise _BudgetError("budget.passes", f"the turn's budget of {most} requests is used up")

    async def _recall(self, query: str, site: Site) -> list[Entry]:
        if self._memory is None:
            return []
        entries = await self._memory.recall(query)
        payload: dict[str, Json] = {"query": query, "entries": entries}
        decision = await self._decider.adecide(Point.MEMORY_RECALL, payload, site)
        self._told(Decided(decision, site, payload))
        kept: list[Entry] = decision.payload["entries"]
        return kept

    async def _ask(self, recalled: list[Entry], site: Site) -> Response | None:
        """One pass: a request, and the calls that its answer makes. None when there was no answer."""
        context = await self._builder.build(recalled, self._conversation.messages(), site)
        self._told(context.decided)
        asked: dict[str, Json] = {"model": self.setting.model, "options": dict(self.setting.options)}
        decision = await self._decider.adecide(Point.PROVIDER_BEFORE, asked, site)
        self._told(Decided(decision, site, asked))
        if decision.denied:
            return None
        options = decision.payload["options"]
        request = Request(site, self.setting.model, options, context.system, context.messages, self._offered)
        response = await self._provider.complete(request)
        if response is None:
            return None
        self.summary.passes += 1
        tokens = response.usage.total if response.usage else None
        response = replace(response, calls=self._conversation.named(response.calls))
        self._report(Answered(response.text, response.calls, tokens))
        made: list[MadeCall] = []
        try:
            for call in response.calls:
                self._check_calls()
                self.summary.calls += 1
                made.append(await self._caller.make(call, replace(site, call=call.id)))
        finally:
            self._conversation.say(response.text, made)
        self._check_tokens(tokens)
        return response

    def _check_calls(self) -> None:
        most = self.setting.budget.calls
        if self.summary.calls >= most:
            raise _BudgetError("budget.calls", f"the budget of {most} calls is used up")

    def _check_tokens(self, tokens: int | None) -> None:
        self.summary.tokens += tokens or 0
        most = self.setting.budget.tokens
        if most is not None and self.summary.tokens >= most:
            raise _BudgetError("budget.tokens", f"the budget of {most} tokens is used up")

    def _told(self, event: LoopEvent) -> None:
        if isinstance(event, Decided):
            self.summary.count(event.decision)
        self._report(event)

    def _stop(self, why: str, key: str) -> None:
        self.summary.stopped = Stopped(why, key)
        self._report(self.summary.stopped)
