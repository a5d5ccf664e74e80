"""What the commands have in common: problems, and JSON, on the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NoReturn

import click

from ..errors import Problem
from ..reasons import clean

# C1 controls, bidirectional and zero-width characters, tags, and half surrogates, which no terminal can show.
_UNSEEN = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)

BAD_USAGE = 2
"""The exit code of bad usage and of bad config."""


def print_problems(problems: Iterable[Problem], label: str = "error") -> None:
    """Write each problem on a line of standard error, as `error: file:line [key]: what (fix)`.

    Files are named, and keys written, by strangers: nothing of them reaches the terminal but what can be seen.
    """
    for problem in problems:
        click.echo(clean(f"{label}: {problem}"), err=True)


def print_json(value: object) -> None:
    """Write a value to standard output as indented JSON, what cannot be seen in it escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(_UNSEEN.sub(lambda found: json.dumps(found.group())[1:-1], text))


def stop(problems: Iterable[Problem], code: int = BAD_USAGE) -> NoReturn:
    """Write the problems and end the command."""
    print_problems(problems)
    raise SystemExit(code)
