"""`orrery ext install`: agree to an extension, and put it in force."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ...config import Config, LockEntry, compare, find_project, put_entry, read_lock
from ...config.edit import declare
from ...errors import InputError, LoadError, Problem
from ...reasons import clean
from ...registry import Declared, LoadedExtension, load_registry
from ..output import print_json, print_problems, stop
from .common import in_words, sandbox_of, watched_in_words


@click.command(
    "install",
    epilog="""\b
Examples:
  orrery ext install extensions/no-force-push
  orrery ext install extensions/no-force-push --yes --digest sha256:…""",
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--project", type=click.Path(exists=True, file_okay=False, path_type=Path), help="The project's folder.")
@click.option("--yes", is_flag=True, help="Agree without being asked. Needs --digest.")
@click.option("--digest", help="Agree to these very files only: the digest that inspect shows.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def command(folder: Path, project: Path | None, yes: bool, digest: str | None, as_json: bool) -> None:
    """Show what an extension will see and may do, ask, and write the agreement to the project's lock.

    An extension whose files or scopes change later is not loaded until this is run again.
    """
    if yes and digest is None:
        stop(
            [Problem("--yes needs --digest", fix="look at the extension with orrery ext inspect, and name its digest")]
        )
    try:
        root = (project or find_project()).resolve()
        config_file, lock_file = root / ".orrery" / "config.toml", root / ".orrery" / "lock.toml"
        declared = os.path.relpath(folder.resolve(), root)
        lock = read_lock(lock_file)
        loaded = _load(folder)
        if digest is not None and digest != loaded.digest:
            what = f"its digest is {loaded.digest}, not {digest}"
            raise InputError(Problem(what, file=folder, fix="look at it again with orrery ext inspect"))
        entry = LockEntry(
            name=loaded.name,
            path=declared,
            version=loaded.version,
            digest=loaded.digest,
            intercept=loaded.manifest.requires.intercept,
            watch=loaded.manifest.requires.watch,
        )
        agreed = lock.find(declared)
        if agreed is None or agreed != entry:
            _show(loaded, agreed)
            if not yes and not _agrees(loaded.name):
                raise SystemExit(1)
            # The lock first: without the declaration it says nothing, and the other way round calls would be denied.
            put_entry(lock_file, entry)
        added = declare(config_file, declared)
    except InputError as error:
        stop(error.problems)
    if as_json:
        print_json({"name": loaded.name, "digest": loaded.digest, "declared": added, "lock": str(lock_file)})
    else:
        click.echo(clean(f"{loaded.name} {loaded.version} is in force in {root}"))


def _load(folder: Path) -> LoadedExtension:
    config = Config()
    with sandbox_of(config) as sandbox:
        registry = load_registry([Declared.by_path(folder)], config, sandbox)
    if not registry.extensions:
        raise LoadError(registry.problems)
    print_problems(registry.problems, "problem")
    return registry.extensions[0]


def _show(loaded: LoadedExtension, agreed: LockEntry | None) -> None:
    requires = loaded.manifest.requires
    click.echo(clean(f"{loaded.name} {loaded.version}, {loaded.digest}"), err=True)
    for scope in requires.intercept:
        click.echo(f"  {clean(in_words(scope))}", err=True)
    for scope in requires.watch:
        click.echo(f"  {clean(watched_in_words(scope))}", err=True)
    if agreed is not None:
        comparison = compare(agreed, loaded.digest, requires.intercept, requires.watch)
        click.echo(f"  new since you agreed to version {agreed.version}: {clean(str(comparison))}", err=True)


def _agrees(name: str) -> bool:
    if not sys.stdin.isatty():
        stop([Problem("nobody is there to be asked", fix="run it in a terminal, or give --yes and --digest")])
    return click.confirm(f"Put {clean(name)} in force?", err=True)
