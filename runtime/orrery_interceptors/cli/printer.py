"""A run as a person would want to see it, and as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.console import Console
from rich.text import Text

from ..decisions import Decision, TrailEntry
from ..jsontext import RECORD_DEPTH, Json, JsonError, dumps
from ..loop.events import Answered, CallEnded, Decided, LoopEvent, Stopped, Summary, TurnStarted
from ..points import Point
from ..reasons import clean, cut

_WIDE = 240
_REPEATED = (Point.CONTEXT_BUILD, Point.PROVIDER_BEFORE)
_Line = tuple[str, str]


def make_printer(plain: bool) -> Printer:
    """A printer for standard output: colours on a terminal, plain text elsewhere or where asked for."""
    console = Console(no_color=plain or None, highlight=False, soft_wrap=True, emoji=False, markup=False)
    return Printer(console)


class Printer:
    """Writes events as lines."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._before: dict[Point, list[_Line]] = {}

    def show(self, event: LoopEvent) -> None:
        """Write what there is to say of an event, if anything.

        What is decided at every request alike, such as a section that is added, is said once.
        """
        lines = list(_lines(event))
        if isinstance(event, Decided) and event.decision.point in _REPEATED:
            before = self._before.get(event.decision.point)
            self._before[event.decision.point] = lines
            if lines == before:
                return
        for style, line in lines:
            self._console.print(Text(line, style=style))

    def end(self, summary: Summary) -> None:
        """Write the summary."""
        self._console.print()
        parts = [
            f"{summary.turns} turns",
            f"{summary.passes} requests",
            f"{summary.calls} calls",
            f"{summary.denied} denied",
            f"{summary.changed} changed",
            f"{summary.handled} handled",
        ]
        if summary.failures:
            failures = ", ".join(f"{count} {kind}" for kind, count in sorted(summary.failures.items()))
            parts.append(f"without an answer: {failures}")
        if summary.tokens:
            parts.append(f"{summary.tokens} tokens")
        self._console.print(Text(f"{', '.join(parts)}; {summary.seconds:.2f} s", style="bold"))


class JsonPrinter:
    """Writes one JSON object a line for each event, and the summary last."""

    def show(self, event: LoopEvent) -> None:
        """Write an event."""
        click.echo(_text(_as_json(event)))

    def end(self, summary: Summary) -> None:
        """Write the summary."""
        click.echo(_text({"t": "summary", **summary.to_json()}))


def _lines(event: LoopEvent) -> Iterator[_Line]:
    match event:
        case TurnStarted(turn, text):
            yield "", ""
            yield "bold", f"user ({turn}): {_short(text)}"
        case Answered(text, _, _):
            if text:
                yield "bold", f"model: {_short(text)}"
        case Decided(decision, _, asked):
            yield from _decision(decision, asked)
        case CallEnded(_, _, outcome, how) if how != "denied":
            style = "red" if outcome["t"] in ("denied", "error") else "dim"
            yield style, f"    {how}: {_short(_outcome(outcome))}"
        case Stopped(why, key):
            yield "yellow", f"stopped: {why} ({key})"


def _decision(decision: Decision, asked: dict[str, Json]) -> Iterator[_Line]:
    if decision.point is Point.TOOL_BEFORE:
        yield "cyan", f"  call {clean(str(asked['tool']))} {_short(_text(asked['input']))}"
    told = [line for entry in decision.trail for line in _entry(entry, decision)]
    if told and decision.point is not Point.TOOL_BEFORE:
        yield "cyan", f"  {decision.point}"
    yield from told


def _entry(entry: TrailEntry, decision: Decision) -> Iterator[_Line]:
    who = f"extension {entry.extension}" if entry.extension else "policy"
    if entry.interceptor:
        who = f"{entry.interceptor} ({who})"
    elif entry.mode == "rule":
        who = f"rule ({who})"
    if entry.failure is not None:
        what = "denied, no answer" if decision.denied else "skipped, no answer"
        yield "yellow", f"    {what} [{entry.failure}]: {clean(entry.reason or '')}"
    elif entry.verdict == "deny":
        yield "red", f"    denied by {entry.reason}" if entry.mode == "policy" else f"    denied: {entry.reason}"
    elif entry.verdict == "handled":
        yield "magenta", f"    handled by {who}"
    elif entry.patch:
        yield "blue", f"    changed by {who}:"
        for operation in entry.patch:
            yield from _operation(operation, decision)
    elif entry.mode == "rule" and entry.reason:
        yield "yellow", f"    {who}: {clean(entry.reason)}"


def _operation(operation: Json, decision: Decision) -> Iterator[_Line]:
    """One edit as the lines of a diff."""
    path = clean(operation["path"]) or "/"
    if operation["op"] in ("remove", "replace"):
        yield "red", f"      - {path}"
    if operation["op"] in ("add", "replace"):
        yield "green", f"      + {path}: {_short(_text(operation['value']))}"


def _outcome(outcome: Json) -> str:
    match outcome["t"]:
        case "ok":
            return f"ok {_text(outcome['value'])}"
        case "error":
            return f"error: {outcome['message']}"
        case "denied":
            return f"the model is told: {outcome['reason']}"
        case "truncated":
            return f"truncated {_text(outcome.get('value'))}"
        case other:
            return str(other)


def _as_json(event: LoopEvent) -> Json:
    match event:
        case TurnStarted(turn, text):
            return {"t": "turn", "turn": turn, "text": text}
        case Answered(text, calls, tokens):
            made = [{"id": call.id, "tool": call.tool, "input": call.input} for call in calls]
            return {"t": "answer", "text": text, "calls": made, "tokens": tokens}
        case Decided(decision, site, asked):
            return {"t": "decision", "site": site.to_json(), "asked": asked, **decision.to_json()}
        case CallEnded(call, value, outcome, how):
            return {
                "t": "call",
                "id": call.id,
                "tool": call.tool,
                "asked": call.input,
                "input": value,
                "outcome": outcome,
                "how": how,
            }
        case Stopped(why, key):
            return {"t": "stopped", "why": why, "key": key}


def _text(value: Json) -> str:
    try:
        return dumps(value, RECORD_DEPTH)
    except JsonError as error:
        return f"(not written: {error})"


def _short(text: str) -> str:
    """The text on one line, cut to what a person reads."""
    return cut(clean(text), _WIDE)
