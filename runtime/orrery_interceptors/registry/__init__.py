"""What is loaded, in which order, what matches, and what could not be loaded."""

from __future__ import annotations

from .extension import LoadedExtension, RegisteredInterceptor, RegisteredWatcher
from .loading import Declared, NotLoaded
from .registration import Registration, read_registration
from .registry import Registry, load_registry

__all__ = [
    "Declared",
    "LoadedExtension",
    "NotLoaded",
    "RegisteredInterceptor",
    "RegisteredWatcher",
    "Registration",
    "Registry",
    "load_registry",
    "read_registration",
]
