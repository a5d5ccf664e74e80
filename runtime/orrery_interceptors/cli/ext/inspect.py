"""`orrery ext inspect`: what an extension is, asks for and does."""

from __future__ import annotations

from pathlib import Path

import click

from ...config import Config
from ...jsontext import Json
from ...reasons import clean
from ...registry import Declared, LoadedExtension, Registry, load_registry
from ...rules import Refuse
from ..output import print_json, print_problems
from .common import in_words, sandbox_of, watched_in_words


@click.command(
    "inspect",
    epilog="""\b
Example:
  orrery ext inspect samples/no-force-push

Exits with 2 when the extension cannot be loaded.""",
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def command(folder: Path, as_json: bool) -> None:
    """Load an extension, and say what it registers, what it asks for, and what is missing from its manifest."""
    config = Config()
    with sandbox_of(config) as sandbox:
        registry = load_registry([Declared.by_path(folder)], config, sandbox)
        loaded = registry.extensions[0] if registry.extensions else None
        if as_json:
            print_json(_as_json(folder, loaded, registry))
        elif loaded is not None:
            for line in _lines(loaded):
                click.echo(clean(line) if not line.startswith(" ") else "  " + clean(line))
    if not as_json:
        print_problems(registry.problems, "error" if loaded is None else "problem")
        print_problems(registry.warnings, "warning")
    if loaded is None:
        raise SystemExit(2)


def _lines(one: LoadedExtension) -> list[str]:
    manifest = one.manifest
    lines = [f"{one.name} {one.version}", f"  digest {one.digest}"]
    if manifest.about.description:
        lines.append(f"  {manifest.about.description}")
    if manifest.component is not None:
        lines.append(f"  component {manifest.component.name}, {manifest.component.stat().st_size} bytes")
    lines += [f"  {in_words(scope)}" for scope in manifest.requires.intercept]
    lines += [f"  {watched_in_words(scope)}" for scope in manifest.requires.watch]
    for interceptor in one.interceptors:
        of = interceptor.of
        tools = f" for {', '.join(of.tools)}" if of.tools else ""
        agents = f" by {', '.join(of.agents)}" if of.agents else ""
        lines.append(f"  interceptor {of.name}: {of.mode} at {of.point}{tools}{agents}")
    for rule in one.rules:
        if isinstance(rule, Refuse):
            lines.append(f"  rule: refuses {', '.join(rule.tools)}: {rule.reason}")
        else:
            lines.append(f"  rule: fills {rule.pointer} of {rule.tool} where it is left out")
    lines += [f"  watcher {watcher.name}" for watcher in one.watchers]
    return lines


def _as_json(folder: Path, one: LoadedExtension | None, registry: Registry) -> Json:
    shared: dict[str, Json] = {
        "folder": str(folder),
        "problems": [problem.to_json() for problem in registry.problems],
        "warnings": [problem.to_json() for problem in registry.warnings],
    }
    if one is None:
        return {**shared, "loaded": False}
    return {
        **shared,
        "loaded": True,
        "name": one.name,
        "version": one.version,
        "digest": one.digest,
        "componentDigest": one.component_digest,
        "intercept": [str(scope) for scope in one.manifest.requires.intercept],
        "watch": [str(scope) for scope in one.manifest.requires.watch],
        "settings": one.settings,
        "interceptors": [
            {
                "name": each.of.name,
                "point": each.of.point,
                "mode": each.of.mode,
                "tools": list(each.of.tools),
                "agents": list(each.of.agents),
            }
            for each in one.interceptors
        ],
        "rules": [rule.model_dump(mode="json") for rule in one.rules],
        "watchers": [
            {"name": each.of.name, "points": list(each.of.points), "tools": list(each.of.tools)}
            for each in one.watchers
        ],
    }
