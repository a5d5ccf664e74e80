"""`orrery doctor`: is it in force."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..config import LoadedConfig
from ..doctor import Check, check_cache, check_extensions, check_limits
from ..doctor.checks import config_source
from ..reasons import clean
from ..sandbox import CodeCache, default_folder
from .ext.common import sandbox_of
from .output import print_json
from .runtime import open_runtime


@click.command(
    "doctor",
    epilog="""\b
Example:
  orrery doctor --project .

Exits with 1 when anything is not in force.""",
)
@click.option("--project", type=click.Path(exists=True, file_okay=False, path_type=Path), help="The project's folder.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def command(project: Path | None, as_json: bool) -> None:
    """Prove the limits on this machine with a probe that breaks them, and show the config and the extensions."""
    with open_runtime(project) as opened, sandbox_of(opened.config.config) as sandbox:
        checks = [
            *check_limits(sandbox),
            check_cache(CodeCache(default_folder())),
            _config(opened.config),
            *check_extensions(opened.runtime.registry),
            *(Check("warning", True, str(warning)) for warning in opened.runtime.warnings),
        ]
    holds = all(check.holds for check in checks)
    if as_json:
        rows = [{"name": check.name, "holds": check.holds, "what": check.what} for check in checks]
        print_json({"inForce": holds, "checks": rows})
    else:
        _print(checks)
    if not holds:
        raise SystemExit(1)


def _config(loaded: LoadedConfig) -> Check:
    files = ", ".join(str(file.path) for file in loaded.files) or "no file: defaults"
    return Check("config", True, f"{files}; {config_source(loaded.config)}")


def _print(checks: list[Check]) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        for check in checks:
            click.echo(clean(f"{'ok  ' if check.holds else 'FAIL'} {check.name}: {check.what}"))
        return
    table = Table("", "check", "what was seen")
    for check in checks:
        mark = Text("✓", "green") if check.holds else Text("✗", "red")
        table.add_row(mark, clean(check.name), clean(check.what))
    console.print(table)
