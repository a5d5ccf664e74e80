"""Tools that a model may call, and the six that come with the loop."""

from __future__ import annotations

from .base import DEFAULT_ENVIRONMENT, Tool, Toolbox, ToolContext, ToolLimits
from .files import Edit, Read, Write
from .search import Glob, Grep
from .shell import Bash
from .workspace import PathRefusedError, Workspace

__all__ = [
    "DEFAULT_ENVIRONMENT",
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "PathRefusedError",
    "Read",
    "Tool",
    "ToolContext",
    "ToolLimits",
    "Toolbox",
    "Workspace",
    "Write",
    "builtin_tools",
]


def builtin_tools() -> Toolbox:
    """The six tools that come with the loop: `builtin.read`, `write`, `edit`, `bash`, `glob` and `grep`."""
    return Toolbox([Read(), Write(), Edit(), Bash(), Glob(), Grep()])
