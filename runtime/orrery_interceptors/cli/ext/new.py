"""`orrery ext new`: a folder that builds, tests and passes at once."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import click

from ...errors import InputError, Problem
from ...points import Point
from ...toolchain.languages import Language
from ...validation import FieldError
from ..output import print_json, stop
from .templates import files_of, name_problem


@click.command(
    "new",
    epilog="""\b
Examples:
  orrery ext new acme-guard --lang rust --point tool.before
  orrery ext new acme-guard --lang ts""",
)
@click.argument("name")
@click.option("--lang", type=click.Choice([str(one) for one in Language]), help="What to write it in.")
@click.option("--point", type=click.Choice([str(one) for one in Point]), help="Where it is asked.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def command(name: str, lang: str | None, point: str | None, as_json: bool) -> None:
    """Make the folder NAME with an extension of that name, its manifest and its cases."""
    folder = Path(name)
    try:
        if problem := name_problem(folder.name):
            raise InputError(Problem(problem, key="NAME"))
        if folder.exists():
            raise InputError(Problem("is there already", file=folder, fix="choose another name"))
        language = Language(lang or _chosen("In which language?", [str(one) for one in Language], "--lang"))
        where = Point(point or _chosen("At which point?", [str(one) for one in Point], "--point"))
        files = files_of(folder.name, language, where)
        _write(folder, files)
    except InputError as error:
        stop(error.problems)
    except FieldError as error:
        stop([Problem(str(error), key="NAME")])
    if as_json:
        print_json({"folder": str(folder), "files": sorted(files)})
        return
    click.echo(f"{folder} is made. Go on with:\n  orrery ext build {folder}\n  orrery ext test {folder}")


def _chosen(question: str, choices: list[str], option: str) -> str:
    if not sys.stdin.isatty():
        raise InputError(Problem("is missing", key=option, fix=f"one of {', '.join(choices)}"))
    return str(click.prompt(question, type=click.Choice(choices), default=choices[0]))


def _write(folder: Path, files: dict[str, str]) -> None:
    """All files or none."""
    try:
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.absolute().parent, prefix=".orrery-") as made:
            inner = Path(made) / "new"
            for name, text in files.items():
                path = inner / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            shutil.move(str(inner), folder)
    except OSError as error:
        raise InputError(Problem(f"cannot be made: {error.strerror}", file=folder)) from None
