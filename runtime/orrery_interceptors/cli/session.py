"""`orrery session`: session files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..errors import Problem, SessionError
from ..jsontext import dumps
from ..loop.chatimport import import_chat
from ..loop.session import parse_session, read_bounded
from .output import print_json, print_problems, stop


@click.group("session")
def group() -> None:
    """Make and check session files."""


@group.command(
    "from-openai",
    epilog="""\b
Example:
  orrery session from-openai chat.json -o session.jsonl""",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Default: standard output.")
@click.option("--json", "as_json", is_flag=True, help="Write the lines as one JSON array.")
def from_openai(file: Path, output: Path | None, as_json: bool) -> None:
    """Make a session of a conversation as OpenAI's chat endpoint has it: {"messages": [...]}."""
    try:
        imported = import_chat(read_bounded(file), file)
    except SessionError as error:
        stop(error.problems)
    print_problems(imported.notes, "note")
    if as_json:
        print_json(list(imported.lines))
        return
    text = "".join(f"{dumps(line)}\n" for line in imported.lines)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        stop([Problem(f"cannot be written: {error.strerror}", file=output)], 1)


@group.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def check(file: Path, as_json: bool) -> None:
    """Check a session file, and say what it holds."""
    try:
        session = parse_session(read_bounded(file), file)
    except SessionError as error:
        if as_json:
            print_json({"problems": [problem.to_json() for problem in error.problems]})
            raise SystemExit(2) from None
        stop(error.problems)
    calls = sum(len(answer.calls) for turn in session.turns for answer in turn.answers)
    if as_json:
        print_json({"problems": [], "turns": len(session.turns), "calls": calls})
        return
    click.echo(f"{file}: {len(session.turns)} turns, {calls} calls, {len(session.recorded)} recorded outcomes")
