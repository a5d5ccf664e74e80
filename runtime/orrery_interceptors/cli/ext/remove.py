"""`orrery ext remove`: take an extension out of force."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ...config import drop_entry, find_project, read_lock
from ...config.edit import undeclare
from ...errors import InputError, Problem
from ...reasons import clean
from ..output import print_json, stop


@click.command("remove")
@click.argument("name")
@click.option("--project", type=click.Path(exists=True, file_okay=False, path_type=Path), help="The project's folder.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def command(name: str, project: Path | None, as_json: bool) -> None:
    """Take an extension out of the project's config and lock. NAME is its name or its folder; its files stay."""
    try:
        root = (project or find_project()).resolve()
        config_file, lock_file = root / ".orrery" / "config.toml", root / ".orrery" / "lock.toml"
        lock = read_lock(lock_file)
        as_folder = os.path.relpath(Path(name).resolve(), root)
        entry = next((one for one in lock.entries if one.name == name or Path(one.path) == Path(as_folder)), None)
        removed = undeclare(config_file, entry.path if entry else as_folder)
        if entry is not None:
            drop_entry(lock_file, entry.name)
        if not removed and entry is None:
            what = f"no extension {name} is declared there"
            raise InputError(Problem(what, file=config_file, fix="orrery ext list shows those that are"))
    except InputError as error:
        stop(error.problems)
    if as_json:
        print_json({"name": entry.name if entry else name, "removed": True})
    else:
        click.echo(clean(f"{entry.name if entry else name} is no longer in force in {root}"))
