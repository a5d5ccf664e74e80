"""`orrery check`: one payload in, one decision out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click

from ..errors import InputError, PayloadError, Problem
from ..jsontext import RECORD_DEPTH, Json, JsonError, dumps, loads
from ..points import Point, Site
from .output import print_json, print_problems
from .runtime import DENIED, open_runtime, runtime_options

_INPUT = "standard input"


@click.command(
    "check",
    epilog="""\b
Examples:
  echo '{"tool": "builtin.bash", "input": {"command": "git push --force"}}' \\
    | orrery check tool.before --ext samples/no-force-push
  orrery check tool.before --jsonl < calls.jsonl > decisions.jsonl

Exits with 4 when something was denied, with 2 when the input is wrong.""",
)
@click.argument("point", type=click.Choice([str(point) for point in Point]))
@runtime_options
@click.option("--agent", default="main", show_default=True, help="Who acts: main, or a persona's name.")
@click.option("--session", default="check", show_default=True, help="The session's name.")
@click.option("--jsonl", is_flag=True, help="Read one payload a line, write one decision a line, in order.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object on one line.")
def command(
    point: str, extensions: tuple[Path, ...], project: Path | None, agent: str, session: str, jsonl: bool, as_json: bool
) -> None:
    """Decide about one payload from standard input, as the extensions and the config say.

    The payload is a JSON object with the point's fields, such as {"tool": …, "input": …} at tool.before.
    """
    site = Site(session, 1, 1, agent)
    with open_runtime(project, extensions) as opened:
        denied = wrong = False
        for number, payload in _payloads(sys.stdin.buffer, jsonl):
            try:
                if isinstance(payload, InputError):
                    raise payload
                decision = opened.runtime.decide(point, payload, site)
            except PayloadError as error:
                wrong = True
                problems = [_placed(problem, number if jsonl else None) for problem in error.problems]
                print_problems(problems)
                if jsonl:
                    # A line for each line, so that the two files can be read side by side.
                    click.echo(dumps({"error": [problem.to_json() for problem in problems]}))
                continue
            denied |= decision.denied
            if jsonl or as_json:
                click.echo(dumps(decision.to_json(), RECORD_DEPTH))
            else:
                print_json(decision.to_json())
    if wrong:
        raise SystemExit(2)
    if denied:
        raise SystemExit(DENIED)


def _payloads(stream: BinaryIO, jsonl: bool) -> Iterator[tuple[int, dict[str, Json] | InputError]]:
    """The payloads, each with its line."""
    if not jsonl:
        yield 1, _payload(stream.read())
        return
    for number, line in enumerate(stream, 1):
        if line.strip():
            yield number, _payload(line)


def _payload(data: bytes) -> dict[str, Json] | InputError:
    try:
        value = loads(data)
    except JsonError as error:
        return PayloadError(Problem(error.what, line=error.line, key=error.pointer))
    if not isinstance(value, dict):
        return PayloadError(Problem("the payload must be an object", fix='such as {"tool": …, "input": …}'))
    return value


def _placed(problem: Problem, line: int | None) -> Problem:
    return Problem(problem.what, _INPUT, line or problem.line, problem.key, problem.fix)
