"""`orrery ext test`: an extension against its table of cases."""

from __future__ import annotations

from pathlib import Path

import click

from ...cases import FILE_NAME, CaseResult, CaseRunner, read_cases
from ...config import Config
from ...errors import InputError
from ...reasons import clean
from ..output import print_json, stop
from .common import sandbox_of


@click.command(
    "test",
    epilog="""\b
Example:
  orrery ext test samples/no-force-push

The format of cases.toml is described in docs/cases.md. Exits with 1 when a case fails.""",
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--cases", "table", type=click.Path(path_type=Path), help="The table. Default: cases.toml in the folder.")
@click.option("-k", "part", help="Only cases whose name holds this.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def command(folder: Path, table: Path | None, part: str | None, as_json: bool) -> None:
    """Run an extension's cases, and say what each costs."""
    config = Config()
    results: list[CaseResult] = []
    try:
        cases = [case for case in read_cases(table or folder / FILE_NAME) if part is None or part in case.name]
        with sandbox_of(config) as sandbox:
            runner = CaseRunner(folder, sandbox, config)
            for case in cases:
                result = runner.run(case)
                results.append(result)
                if not as_json:
                    _print(result)
    except InputError as error:
        stop(error.problems)
    failed = sum(not result.passed for result in results)
    if as_json:
        print_json({"passed": len(results) - failed, "failed": failed, "cases": [_as_json(one) for one in results]})
    else:
        click.echo(f"{len(results) - failed} passed, {failed} failed")
    if failed:
        raise SystemExit(1)


def _print(result: CaseResult) -> None:
    mark = "pass" if result.passed else "FAIL"
    click.echo(clean(f"{mark} {result.case.name} ({result.fuel} fuel, {result.duration_us} us)"))
    for what in result.wrong:
        click.echo("     " + clean(what))


def _as_json(result: CaseResult) -> dict[str, object]:
    return {
        "name": result.case.name,
        "passed": result.passed,
        "wrong": list(result.wrong),
        "fuel": result.fuel,
        "durationUs": result.duration_us,
    }
