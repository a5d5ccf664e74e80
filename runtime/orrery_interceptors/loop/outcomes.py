"""What came of a tool call: dicts tagged by `t`.

`ok` (value), `error` (message), `denied` (reason, by), `truncated` (value, omitted) and `cancelled`. More members may
stand beside them: `builtin.bash` adds the exit status.
"""

from __future__ import annotations

from ..jsontext import Json, JsonError, dumps
from ..payloads import outcome_problem

Outcome = dict[str, Json]


def ok(value: Json, **more: Json) -> Outcome:
    """The tool did its work; `value` is any JSON value."""
    return {"t": "ok", "value": value, **more}


def error(message: str) -> Outcome:
    """The tool could not do its work. The message is told to the model."""
    return {"t": "error", "message": message}


def denied(reason: str | None, by: Json) -> Outcome:
    """The call was not made, or its outcome was withheld."""
    return {"t": "denied", "reason": reason or "denied, no reason given", "by": by}


def truncated(value: Json, omitted: int, **more: Json) -> Outcome:
    """The tool did its work, and `value` is what fitted; `omitted` counts what did not, in the tool's own unit."""
    return {"t": "truncated", "value": value, "omitted": omitted, **more}


def cancelled() -> Outcome:
    """The call was broken off from outside."""
    return {"t": "cancelled"}


def checked(tool: str, value: Json) -> Outcome:
    """What a tool returned, or an error outcome in its place where that is no outcome or has no JSON text."""
    if (problem := outcome_problem(value)) is not None:
        return error(f"{tool} returned no outcome: {' '.join(part for part in problem if part)}")
    try:
        dumps(value)
    except JsonError as trouble:
        return error(f"{tool} returned what no JSON text can carry: {trouble}")
    outcome: Outcome = value
    return outcome


def as_text(outcome: Outcome) -> str:
    """The outcome as the model is told of it."""
    match outcome["t"]:
        case "ok":
            return _text(outcome["value"]) + _exit(outcome)
        case "error":
            return f"error: {outcome['message']}"
        case "denied":
            return f"denied: {outcome['reason']}"
        case "truncated":
            omitted = outcome.get("omitted")
            left = f"{omitted} omitted" if isinstance(omitted, int) else "the rest omitted"
            return f"{_text(outcome.get('value', ''))}\n[truncated: {left}]" + _exit(outcome)
        case _:
            return "cancelled: the call was broken off"


def _text(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value)


def _exit(outcome: Outcome) -> str:
    status = outcome.get("exit")
    return f"\n[exit status {status}]" if isinstance(status, int) and status != 0 else ""
