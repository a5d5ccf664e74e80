"""A runtime for a command: opened from the options, closed whatever happens, and its problems said."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click

from ..config import LoadedConfig, find_project, load_config
from ..errors import AuditError, InputError, Problem
from ..reasons import clean
from ..runtime import Runtime
from .output import print_problems, stop

FAILED = 1
"""The exit code for what failed and is nobody's input."""

DENIED = 4
"""The exit code when a call was denied."""

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
_Command = TypeVar("_Command", bound=Callable[..., Any])


def runtime_options(command: _Command) -> _Command:
    """The options of every command that decides: `--ext`, `--project`."""
    for option in (
        click.option(
            "--project",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            help="The project's folder. Default: the nearest one upwards that has .orrery, else the current one.",
        ),
        click.option(
            "--ext",
            "extensions",
            multiple=True,
            type=click.Path(path_type=Path),
            help="An extension's folder to load besides, closest of all. May be given several times.",
        ),
    ):
        command = option(command)
    return command


@contextlib.contextmanager
def open_runtime(project: Path | None, extensions: Sequence[Path] = (), **options: Any) -> Iterator[Opened]:
    """A runtime for the project and the extensions. Ends the command, with a sentence, when it cannot be had.

    Load problems and warnings are written to standard error. A termination by signal closes it like any other end.
    """
    previous = signal.getsignal(signal.SIGTERM)
    try:
        loaded = load_config(project or find_project())
        with _logging(loaded.config.log.level):
            # Without this the process would end at once, and what waits for the audit with it.
            signal.signal(signal.SIGTERM, _terminated)
            with Runtime.open(extensions=extensions, config=loaded, **options) as runtime:
                print_problems(runtime.problems, "load problem")
                print_problems(runtime.warnings, "warning")
                yield Opened(runtime, loaded)
    except InputError as error:
        stop(error.problems)
    except AuditError as error:
        stop([Problem(str(error))], FAILED)
    finally:
        signal.signal(signal.SIGTERM, previous)


class Opened:
    """An open runtime and the config that it came from."""

    def __init__(self, runtime: Runtime, config: LoadedConfig) -> None:
        self.runtime = runtime
        self.config = config


def _terminated(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


class _Handler(logging.Handler):
    """Writes lines to standard error. What strangers wrote in them is made safe to show."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{record.levelname.lower()}: {clean(record.getMessage())}\n")


@contextlib.contextmanager
def _logging(level: str) -> Iterator[None]:
    logger = logging.getLogger("orrery_interceptors")
    handler = _Handler()
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(_LEVELS[level])
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before
