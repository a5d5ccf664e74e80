"""The conformance extension; see the README beside the languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orrery_ext import (
    Call,
    ContextBuild,
    Deny,
    Edits,
    Extension,
    Handled,
    Keep,
    MemoryRecall,
    ProviderBefore,
    Rewrite,
    ToolAfter,
    ToolBefore,
    log,
)

extension = Extension(
    rules=[
        {"t": "refuse", "tools": ["ruled"], "reason": "by rule"},
        {"t": "default", "tool": "filled", "pointer": "/timeout", "value": 5},
    ]
)


def check(settings: Mapping[str, Any]) -> None:
    if "wrong" in settings:
        raise ValueError("the settings are wrong")


extension.check = check


@extension.gate("proceed", tools=["proceed"])
def proceed(asked: ToolBefore) -> None:
    return None


@extension.gate("deny", tools=["deny"])
def deny(asked: ToolBefore) -> Deny:
    return Deny("because é漢🚀")


@extension.gate("settings", tools=["settings"])
def settings(asked: ToolBefore, call: Call) -> Deny:
    return Deny(call.settings["word"])


@extension.gate("error", tools=["error"])
def error(asked: ToolBefore) -> Deny:
    raise ValueError("it failed")


@extension.gate("log", tools=["log"])
def logs(asked: ToolBefore) -> None:
    log.warn("a line")


@extension.gate("after", tools=["after"])
def after(asked: ToolAfter) -> Deny:
    return Deny("withheld")


@extension.rewrite("set", tools=["set"])
def set_one(asked: ToolBefore) -> Rewrite:
    return Rewrite({**asked.input, "x": 1})


@extension.rewrite("same", tools=["same"])
def same(asked: ToolBefore) -> Rewrite:
    return Rewrite(asked.input)


@extension.rewrite("handle", tools=["handle"])
def handle(asked: ToolBefore) -> Handled:
    return Handled({"t": "ok", "value": {"canned": True}})


@extension.rewrite("outcome", tools=["outcome"])
def outcome(asked: ToolAfter) -> Rewrite:
    return Rewrite({**asked.outcome, "value": "changed"})


@extension.rewrite_only("quiet", tools=["quiet"])
def quiet(asked: ToolBefore) -> Rewrite:
    raise ValueError("it failed")


@extension.rewrite("context")
def context(asked: ContextBuild) -> Edits:
    first = asked.sections[0]["id"]
    return Edits(
        [
            {"t": "replace-section", "id": first, "text": "new"},
            {"t": "add-section", "id": "added", "text": "more"},
        ]
    )


@extension.rewrite("recall")
def recall(asked: MemoryRecall) -> Keep:
    return Keep([entry["id"] for entry in reversed(asked.entries)])


@extension.rewrite("options")
def options(asked: ProviderBefore) -> Rewrite:
    return Rewrite({**asked.options, "temperature": 0})


@extension.gate("async", tools=["async"])
async def asynchronous(asked: ToolBefore, call: Call) -> Deny:
    at = call.site
    return Deny(f"{asked.tool} at {at.session}/{at.turn}/{at.pass_}/{at.call_id or ''}")


@extension.watcher("watch", points=["tool.before"], tools=["watched"])
def watch(event: Mapping[str, Any]) -> None:
    log.info(f"saw {event['decision']['decision']}")
