"""`orrery audit`: what was decided, and whether the record of it is whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import click

from ..audit import read_records, verify
from ..config import find_project, load_config
from ..errors import AuditError, ConfigError, Problem
from ..jsontext import RECORD_DEPTH, Json, dumps
from ..reasons import clean
from .output import print_json, stop

_FILE = click.argument("file", required=False, type=click.Path(path_type=Path))


@click.group("audit")
def group() -> None:
    """Read and check the audit."""


@group.command(
    epilog="""\b
Examples:
  orrery audit show --denied
  orrery audit show --tail 20 --json .orrery/audit.jsonl"""
)
@_FILE
@click.option("--denied", is_flag=True, help="Only what was denied.")
@click.option("--session", help="Only what was decided in this session.")
@click.option("--tail", type=click.IntRange(min=1), help="Only the last records.")
@click.option("--json", "as_json", is_flag=True, help="Write the records as they stand, one a line.")
def show(file: Path | None, denied: bool, session: str | None, tail: int | None, as_json: bool) -> None:
    """Show the records, oldest first. FILE is by default the project's audit."""
    path = file or _default()
    try:
        chosen = (record for record in read_records(path) if _is_wanted(record, denied, session))
        for record in deque(chosen, tail) if tail else chosen:
            if as_json:
                click.echo(dumps(record, RECORD_DEPTH))
            else:
                for line in _lines(record):
                    click.echo(line)
    except AuditError as error:
        stop([Problem(str(error))], 1)


@group.command("verify")
@_FILE
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def check(file: Path | None, as_json: bool) -> None:
    """Check that no record was changed, removed or added. Exits with 1 when the chain does not hold.

    Records cut off the end cannot be seen in the file alone: keep the last record's hash elsewhere and compare.
    """
    path = file or _default()
    try:
        found = verify(path)
    except AuditError as error:
        stop([Problem(str(error))], 1)
    if as_json:
        print_json(
            {
                "file": str(path),
                "intact": found.intact,
                "records": found.records,
                "torn": found.torn,
                "recovered": found.recovered,
                "last": found.last,
                "problems": [{"line": line, "what": what} for line, what in found.problems],
            }
        )
    else:
        for line, what in found.problems:
            click.echo(clean(f"{path}:{line}: {what}"), err=True)
        state = "the chain holds" if found.intact else "the chain does not hold"
        torn = f", and {found.torn} bytes of a record that a crash left unfinished" if found.torn else ""
        click.echo(f"{path}: {found.records} records{torn}; {state}; last {found.last[:16]}")
    if not found.intact:
        raise SystemExit(1)


def _default() -> Path:
    try:
        return load_config(find_project()).audit_path
    except ConfigError as error:
        stop(error.problems)


def _is_wanted(record: dict[str, Json], denied: bool, session: str | None) -> bool:
    if denied and record.get("decision") != "deny":
        return False
    return session is None or (record.get("site") or {}).get("session") == session


def _lines(record: dict[str, Json]) -> Iterator[str]:
    number, at = record.get("n"), record.get("at")
    if record.get("type") != "decision":
        yield clean(f"{number} {at} {record.get('type')}: {record.get('torn')} bytes were left unfinished before this")
        return
    tool = f" {record['tool']}" if record.get("tool") else ""
    changed = ", changed" if record.get("changed") else ""
    yield clean(f"{number} {at} {record.get('point')}{tool}: {record.get('decision')}{changed}")
    for entry in record.get("trail") or []:
        if not isinstance(entry, dict):
            continue
        said = entry.get("reason") or ""
        who = f"{entry.get('extension') or 'host'}/{entry.get('interceptor') or entry.get('mode')}"
        if entry.get("failure"):
            yield clean(f"    {who}: no answer [{entry['failure']}] {said}")
        elif entry.get("verdict") == "deny":
            yield clean(f"    {who}: denied: {said}")
        elif entry.get("patch"):
            edits = ", ".join(f"{edit.get('op')} {edit.get('path')}" for edit in entry["patch"])
            yield clean(f"    {who}: changed: {edits}")
        elif entry.get("verdict") == "handled":
            yield clean(f"    {who}: handled")
