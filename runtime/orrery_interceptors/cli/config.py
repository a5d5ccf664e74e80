"""`orrery config`: what the config is, and where each value came from."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from ..config import KEYS, Extension, LoadedConfig, find_project, load_config
from ..errors import ConfigError
from ..jsontext import Json
from ..reasons import clean
from .output import print_json, print_problems, stop


@click.group("config")
def group() -> None:
    """Show the config and where it comes from."""


@group.command()
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The project's folder. Default: the nearest one upwards that has .orrery, else the current one.",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def show(project: Path | None, as_json: bool) -> None:
    """Show each key's value and the file that it came from."""
    try:
        loaded = load_config(project or find_project())
    except ConfigError as error:
        stop(error.problems)
    if as_json:
        print_json(_as_json(loaded))
        return
    rows = [*_keys(loaded), *map(_extension, enumerate(loaded.config.extensions))]
    console = Console()
    if console.is_terminal:
        console.print(_table(rows))
    else:
        for key, value, source in rows:
            click.echo(f"{key} = {value}  # {source}")
    print_problems(loaded.warnings, "warning")


_Row = tuple[str, str, str]


def _keys(loaded: LoadedConfig) -> list[_Row]:
    values = loaded.config.values()
    return [(key, clean(_text(values[key])), clean(str(loaded.sources[key]))) for key in KEYS]


def _extension(numbered: tuple[int, Extension]) -> _Row:
    index, extension = numbered
    marks = [mark for mark, holds in (("optional", extension.optional), ("off", not extension.enabled)) if holds]
    value = f"{_text(str(extension.path))}{' (' + ', '.join(marks) + ')' if marks else ''}"
    return f"extensions[{index}]", clean(value), clean(f"{extension.file}:{extension.line}")


def _text(value: Json) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def _table(rows: list[_Row]) -> Table:
    table = Table("key", Column("value", overflow="fold"), Column("from", overflow="fold"))
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _as_json(loaded: LoadedConfig) -> Json:
    values = loaded.config.values()
    return {
        "project": str(loaded.project),
        "files": [{"layer": file.layer, "path": str(file.path)} for file in loaded.files],
        "keys": {
            key: {
                "value": values[key],
                "layer": source.layer or "default",
                "file": None if source.file is None else str(source.file),
                "line": source.line,
                "lockedBy": None if source.locked_by is None else str(source.locked_by),
            }
            for key, source in loaded.sources.items()
        },
        "extensions": [
            {
                "path": str(extension.path),
                "declared": extension.declared,
                "optional": extension.optional,
                "enabled": extension.enabled,
                "settings": extension.settings,
                "layer": extension.layer,
                "file": str(extension.file),
                "line": extension.line,
            }
            for extension in loaded.config.extensions
        ],
        "warnings": [warning.to_json() for warning in loaded.warnings],
    }
