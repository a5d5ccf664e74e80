"""From an extension to the functions of the contract. The build makes the module that calls this."""

from __future__ import annotations

from typing import Any

from .extension import Extension
from .payloads import ContextBuild, MemoryRecall, Payload, ProviderBefore, Site, ToolAfter, ToolBefore


def component(extension: Extension, exports: Any, error: Any) -> type:
    """The class that the world exports. `exports` are the contract's generated types, `error` its exception."""
    types = exports.extension

    def asked(kind: str, name: str, settings: str, at: Any, payload: Payload) -> Any:
        site = Site(at.session, at.turn, at.pass_, at.agent, at.call_id)
        try:
            case, text = extension.ask(name, settings, site, payload)
        except Exception as raised:
            raise error(_said(raised)) from None
        made = getattr(types, f"{kind}Verdict_{case.capitalize()}", None)
        if made is None:
            raise error(f"{payload.point} has no answer `{case}`")
        return made() if case == "proceed" else made(text)

    class Exported:
        """The exports of the world."""

        def register(self, settings: str) -> str:
            try:
                return extension.registration(settings)
            except Exception as raised:
                raise error(_said(raised)) from None

        def tool_before(self, interceptor: str, settings: str, at: Any, payload: Any) -> Any:
            made = ToolBefore(tool=payload.tool, input=payload.input)
            return asked("ToolBefore", interceptor, settings, at, made)

        def tool_after(self, interceptor: str, settings: str, at: Any, payload: Any) -> Any:
            made = ToolAfter(tool=payload.tool, input=payload.input, outcome=payload.outcome)
            return asked("ToolAfter", interceptor, settings, at, made)

        def context_build(self, interceptor: str, settings: str, at: Any, payload: Any) -> Any:
            made = ContextBuild(
                sections=payload.sections,
                recalled=payload.recalled,
                messages=payload.messages,
                budget_tokens=payload.budget_tokens,
            )
            return asked("ContextBuild", interceptor, settings, at, made)

        def memory_recall(self, interceptor: str, settings: str, at: Any, payload: Any) -> Any:
            made = MemoryRecall(query=payload.query, entries=payload.entries)
            return asked("MemoryRecall", interceptor, settings, at, made)

        def provider_before(self, interceptor: str, settings: str, at: Any, payload: Any) -> Any:
            made = ProviderBefore(model=payload.model, options=payload.options)
            return asked("ProviderBefore", interceptor, settings, at, made)

        def watch(self, watcher: str, settings: str, event: str) -> None:
            extension.tell(watcher, settings, event)

    return Exported


def _said(raised: Exception) -> str:
    return str(raised) or type(raised).__name__
