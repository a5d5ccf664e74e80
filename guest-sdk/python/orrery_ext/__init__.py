"""Write extensions for AI agents in Python.

::

    from orrery_ext import Deny, Extension, ToolBefore

    extension = Extension()

    @extension.gate("no-force-push", tools=["builtin.bash"])
    def no_force_push(call: ToolBefore) -> Deny | None:
        if "push --force" in call.input.get("command", ""):
            return Deny("push a new branch instead")
        return None

The handler's first parameter says the point by its type. `None` is no objection and no change. What a handler raises
reaches the host as an error, and the interceptor's mode decides what happens then.
"""

from __future__ import annotations

from . import log
from .answers import Deny, Edits, Handled, Keep, Rewrite
from .extension import Call, Extension
from .payloads import ContextBuild, MemoryRecall, ProviderBefore, Site, ToolAfter, ToolBefore

__all__ = [
    "Call",
    "ContextBuild",
    "Deny",
    "Edits",
    "Extension",
    "Handled",
    "Keep",
    "MemoryRecall",
    "ProviderBefore",
    "Rewrite",
    "Site",
    "ToolAfter",
    "ToolBefore",
    "log",
]
