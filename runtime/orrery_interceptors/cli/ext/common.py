"""What the commands about extensions have in common."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ...config import Config
from ...patterns import Scope
from ...points import SPECS, Point
from ...sandbox import CodeCache, CompileLimits, Sandbox, default_folder


@contextlib.contextmanager
def sandbox_of(config: Config) -> Iterator[Sandbox]:
    """A sandbox with the config's limits, closed at the end."""
    limits = config.limits
    sandbox = Sandbox(
        cache=CodeCache(default_folder()), compiling=CompileLimits(limits.compile_seconds, limits.compile_mib)
    )
    try:
        yield sandbox
    finally:
        sandbox.close()


_SEES = {
    Point.TOOL_BEFORE: "will see every call of {tools} before it is made, and may refuse, change or answer it",
    Point.TOOL_AFTER: "will see what came of every call of {tools}, and may withhold or change it",
    Point.CONTEXT_BUILD: "will see the whole conversation before each request, and may edit what the model is sent",
    Point.MEMORY_RECALL: "will see what memory returns, and may hold back or reorder entries",
    Point.PROVIDER_BEFORE: "will see the model and the options of each request, and may refuse it or change options",
}


def in_words(scope: Scope) -> str:
    """What an extension of this scope may see and do, for whoever is asked to agree."""
    tools = "any tool" if scope.tools == "*" else scope.tools
    return _SEES[scope.point].format(tools=tools)


def watched_in_words(scope: Scope) -> str:
    """What a watcher of this scope is told."""
    about = f" about {scope.tools}" if SPECS[scope.point].has_tool and scope.tools != "*" else ""
    return f"will be told what is asked and decided at {scope.point}{about}, and can only write to the log"
