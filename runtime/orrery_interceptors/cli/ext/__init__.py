"""`orrery ext`: extensions, for those who write them and those who use them."""

from __future__ import annotations

import importlib

import click

_COMMANDS = ("new", "build", "inspect", "test", "install", "list", "remove")


class _Commands(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f".{name}", __package__).command
        return command


@click.group("ext", cls=_Commands)
def group() -> None:
    """Look at, test, install and remove extensions."""
