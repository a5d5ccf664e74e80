"""WebAssembly extensions that gate, rewrite and shape what an AI agent does, and fail closed.

>>> from orrery_interceptors import Runtime
>>> with Runtime.open(extensions=["samples/no-force-push"]) as runtime:  # doctest: +SKIP
...     decision = runtime.decide("tool.before", {"tool": "builtin.bash", "input": {"command": "git push --force"}})
"""

from __future__ import annotations

from ._version import __version__
from .bus import Event, Subscription
from .config import Config, load_config
from .decisions import Decision, TrailEntry
from .errors import (
    AuditError,
    ConfigError,
    InputError,
    LoadError,
    ManifestError,
    OrreryError,
    PayloadError,
    Problem,
    ProviderError,
    SessionError,
)
from .payloads import ContextBuild, MemoryRecall, Payload, ProviderBefore, ToolAfter, ToolBefore
from .points import Mode, Point, Site
from .runtime import Runtime
from .verdicts import By, FailureKind

__all__ = [
    "AuditError",
    "By",
    "Config",
    "ConfigError",
    "ContextBuild",
    "Decision",
    "Event",
    "FailureKind",
    "InputError",
    "LoadError",
    "ManifestError",
    "MemoryRecall",
    "Mode",
    "OrreryError",
    "Payload",
    "PayloadError",
    "Point",
    "Problem",
    "ProviderBefore",
    "ProviderError",
    "Runtime",
    "SessionError",
    "Site",
    "Subscription",
    "ToolAfter",
    "ToolBefore",
    "TrailEntry",
    "__version__",
    "load_config",
]
