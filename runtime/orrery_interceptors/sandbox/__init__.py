"""The sandbox: the only package that knows wasmtime. A component goes in; calls come back as replies."""

from __future__ import annotations

from .binary import ComponentError
from .box import Loaded, Marshalling, Sandbox, text_to_binary
from .codecache import CacheRefusedError, CodeCache, default_folder
from .compiler import CompileLimits
from .guest import Bounds, Guest
from .workers import Workers

__all__ = [
    "Bounds",
    "CacheRefusedError",
    "CodeCache",
    "CompileLimits",
    "ComponentError",
    "Guest",
    "Loaded",
    "Marshalling",
    "Sandbox",
    "Workers",
    "default_folder",
    "text_to_binary",
]
