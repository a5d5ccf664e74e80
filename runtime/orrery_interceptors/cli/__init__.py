"""The command line, `orrery`. Each command is a module of its own and is imported when it is asked for."""

from __future__ import annotations

import importlib
import sys

import click

from .._version import __version__

_COMMANDS = {
    "run": ("run", "command"),
    "check": ("check", "command"),
    "ext": ("ext", "group"),
    "config": ("config", "group"),
    "doctor": ("doctor", "command"),
    "audit": ("audit", "group"),
    "session": ("session", "group"),
}


class _Commands(click.Group):
    """Commands by name. Importing them all would make each of them slow to start."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[name]
        command: click.Command = getattr(importlib.import_module(f".{module}", __package__), attribute)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="orrery")
def group() -> None:
    """Extensions for AI agents that can refuse and change what the agent does, each in a sandbox of its own.

    \b
    Exit codes: 0 done, 1 failed, 2 bad usage or bad config, 3 stopped by a budget, 4 denied by policy.
    """


def main() -> None:
    """The program. Never ends with a traceback."""
    try:
        group(standalone_mode=False)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read us stopped reading, as `head` does. Nothing more can be written, at the exit neither.
        sys.stderr.close()
        sys.exit(1)
