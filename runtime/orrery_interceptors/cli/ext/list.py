"""`orrery ext list`: which extensions there are, and whether they are in force."""

from __future__ import annotations

from pathlib import Path

import click

from ...reasons import clean
from ..output import print_json
from ..runtime import open_runtime


@click.command("list")
@click.option("--project", type=click.Path(exists=True, file_okay=False, path_type=Path), help="The project's folder.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON array.")
def command(project: Path | None, as_json: bool) -> None:
    """List the extensions that the config declares, closest layer first."""
    with open_runtime(project) as opened:
        registry = opened.runtime.registry
        rows = [
            {
                "name": one.name,
                "version": one.version,
                "layer": str(one.layer),
                "folder": str(one.folder),
                "digest": one.digest,
                "state": "in force",
            }
            for one in registry.extensions
        ] + [
            {
                "name": one.name,
                "version": None,
                "layer": str(one.declared.layer),
                "folder": str(one.declared.folder),
                "digest": None,
                "state": "not loaded, calls in its scope are denied" if one.closed else "not loaded",
            }
            for one in registry.not_loaded
        ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(clean(f"{row['name']} {row['version'] or '-'} ({row['layer']}): {row['state']}, {row['folder']}"))
