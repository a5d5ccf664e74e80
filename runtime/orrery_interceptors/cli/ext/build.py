"""`orrery ext build`: make an extension's component from its source."""

from __future__ import annotations

from pathlib import Path

import click

from ...errors import InputError, Problem
from ...manifest import read_manifest
from ...toolchain.component import BuildError
from ...toolchain.languages import build
from ...toolchain.rust import ToolchainError
from ..output import print_json, stop


@click.command(
    "build",
    epilog="""\b
Example:
  orrery ext build samples/no-force-push

Exits with 1 when it does not build; the compiler's own words say why.""",
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Default: the manifest's component."
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def command(folder: Path, output: Path | None, as_json: bool) -> None:
    """Build the extension in FOLDER, which is written in Rust, TypeScript or Python."""
    try:
        manifest = read_manifest(folder)
        target = output or manifest.component
        if target is None:
            raise InputError(Problem("has only rules: there is nothing to build", file=folder))
        language = build(folder, target)
    except InputError as error:
        stop(error.problems)
    except (BuildError, ToolchainError) as error:
        click.echo(f"error: {error}", err=True)
        raise SystemExit(1) from None
    size = target.stat().st_size
    if as_json:
        print_json({"language": language, "component": str(target), "bytes": size})
    else:
        click.echo(f"{target}: {size} bytes, from {language}")
