"""Is it in force: limits proven on this machine with a probe, the config, the extensions."""

from __future__ import annotations

from .checks import Check, check_cache, check_extensions, check_limits

__all__ = ["Check", "check_cache", "check_extensions", "check_limits"]
