"""Lines for the host's log: `log.info("…")`. Outside of a component they go to `logging`."""

from __future__ import annotations

import logging

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}


def _write(level: str, message: str) -> None:
    try:
        from wit_world.imports import log  # made by the build; there in a component
    except ImportError:
        logging.getLogger("orrery_ext").log(_LEVELS[level], "%s", message)
        return
    log.write(getattr(log.Level, level.upper()), message)


def debug(message: str) -> None:
    """Write a line at the level `debug`."""
    _write("debug", message)


def info(message: str) -> None:
    """Write a line at the level `info`."""
    _write("info", message)


def warn(message: str) -> None:
    """Write a line at the level `warn`."""
    _write("warn", message)


def error(message: str) -> None:
    """Write a line at the level `error`."""
    _write("error", message)
