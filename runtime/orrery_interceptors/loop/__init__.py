"""The loop: a whole agent around the five points, for sessions, tests and small harnesses."""

from __future__ import annotations

from .events import Answered, CallEnded, Decided, LoopEvent, Stopped, Summary, TurnStarted
from .loop import Loop, Setting
from .memory import Memory, MemoryStoreError, SqliteMemory
from .provider import OpenAIProvider, Provider, ScriptedProvider
from .session import Session, read_session
from .tools import Tool, Toolbox, ToolContext, ToolLimits, Workspace, builtin_tools

__all__ = [
    "Answered",
    "CallEnded",
    "Decided",
    "Loop",
    "LoopEvent",
    "Memory",
    "MemoryStoreError",
    "OpenAIProvider",
    "Provider",
    "ScriptedProvider",
    "Session",
    "Setting",
    "SqliteMemory",
    "Stopped",
    "Summary",
    "Tool",
    "ToolContext",
    "ToolLimits",
    "Toolbox",
    "TurnStarted",
    "Workspace",
    "builtin_tools",
    "read_session",
]
