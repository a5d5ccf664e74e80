"""`orrery run`: a session through the loop."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import click

from ..config import Config, LoadedConfig
from ..errors import ConfigError, OrreryError, Problem, ProviderError, SessionError
from ..loop import Loop, MemoryStoreError, Session, Setting, SqliteMemory, Summary, ToolLimits, Workspace, read_session
from ..loop.provider import OpenAIProvider, Provider, ScriptedProvider
from ..loop.tools import PathRefusedError
from .output import stop
from .printer import JsonPrinter, Printer, make_printer
from .runtime import DENIED, FAILED, Opened, open_runtime, runtime_options

_BUDGET = 3


@click.command(
    "run",
    epilog="""\b
Examples:
  orrery run samples/sessions/demo.jsonl --ext samples/no-force-push
  orrery run session.jsonl --workspace . --json > events.jsonl

The session's format is described in docs/session.md. Without --workspace the tools work in a folder of their own,
which is removed at the end.""",
)
@click.argument("session", type=click.Path(path_type=Path))
@runtime_options
@click.option("--agent", help="Who acts: main, or a persona's name. Default: as the session says, else main.")
@click.option("--session", "name", help="The session's name. Default: as the session says, else the file's name.")
@click.option(
    "--workspace",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder that the tools work in. Default: a new one.",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a line for each event, a summary last.")
@click.option("--plain", is_flag=True, help="Write plain text, also to a terminal.")
def command(
    session: Path,
    extensions: tuple[Path, ...],
    project: Path | None,
    agent: str | None,
    name: str | None,
    workspace: Path | None,
    as_json: bool,
    plain: bool,
) -> None:
    """Run a session through the loop, with all that the config and --ext load.

    Exits with 4 when a call was denied, with 3 when a budget was used up.
    """
    try:
        script = read_session(session)
    except SessionError as error:
        stop(error.problems)
    printer = JsonPrinter() if as_json else make_printer(plain)
    with open_runtime(project, extensions) as opened, _workspace(workspace) as folder:
        setting = _setting(script, opened.config.config, agent, name or script.id or session.stem)
        run = _Run(script, setting, opened, folder, printer)
        summary = _finished(run)
    if summary.stopped is not None:
        raise SystemExit(_BUDGET)
    if summary.denied:
        raise SystemExit(DENIED)


@dataclass(frozen=True, slots=True)
class _Run:
    script: Session
    setting: Setting
    opened: Opened
    folder: Path
    printer: Printer | JsonPrinter


def _finished(run: _Run) -> Summary:
    """Run it; what goes wrong on the way is said in a sentence."""
    try:
        return anyio.run(_run, run)
    except _InterruptedError as interrupted:
        click.echo("interrupted: the session was broken off; what was decided is in the audit", err=True)
        raise SystemExit(128 + interrupted.number) from None
    except (ProviderError, MemoryStoreError) as error:
        stop([Problem(str(error))], FAILED)
    except SessionError as error:
        stop(error.problems)
    except OrreryError:
        raise
    except OSError as error:
        stop([Problem(str(error))], FAILED)


async def _run(run: _Run) -> Summary:
    config = run.opened.config
    with Workspace(run.folder) as workspace:
        _write_files(run.script, workspace)
        memory = SqliteMemory(
            None if run.script.memories else config.memory_path, limit=config.config.memory.recall_limit
        )
        try:
            for entry in run.script.memories:
                await memory.add(entry.text, id=entry.id, meta=entry.meta)
            async with _provider(run.script, config) as provider:
                loop = Loop(
                    run.opened.runtime,
                    provider,
                    workspace,
                    memory=memory,
                    setting=run.setting,
                    report=run.printer.show,
                )
                summary = await _uninterrupted(loop, run.script)
        finally:
            memory.close()
    run.printer.end(summary)
    return summary


async def _uninterrupted(loop: Loop, script: Session) -> Summary:
    """Run the session's turns. A signal breaks them off, the tool that runs included. Raises `_InterruptedError`."""
    caught: list[signal.Signals] = []

    async def wait(scope: anyio.CancelScope) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                caught.append(number)
                scope.cancel()
                return

    failed: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(wait, group.cancel_scope)
        try:
            await loop.run([turn.text for turn in script.turns])
        except Exception as error:
            # Raised below: the group would put it into an exception group.
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed
    if caught:
        raise _InterruptedError(caught[0])
    return loop.summary


class _InterruptedError(Exception):
    """A signal broke the run off."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.number = number


def _write_files(script: Session, workspace: Workspace) -> None:
    for file in script.files:
        try:
            workspace.write(file.path, file.text.encode())
        except (PathRefusedError, OSError) as error:
            raise SessionError(Problem(f"the file {file.path!r} cannot be made: {error}")) from None


@contextlib.contextmanager
def _workspace(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="orrery-run-") as made:
        yield Path(made)


@contextlib.asynccontextmanager
async def _provider(script: Session, config: LoadedConfig) -> AsyncIterator[Provider]:
    settings = config.config.provider
    if settings.kind == "scripted":
        yield ScriptedProvider(script.turns)
        return
    if settings.base_url is None:
        source = config.sources["provider.baseUrl"].file
        raise ConfigError(
            Problem("is not set", file=source, key="provider.baseUrl", fix="name the endpoint, such as https://…/v1")
        )
    async with OpenAIProvider(
        settings.base_url,
        api_key=os.environ.get(settings.api_key_env),
        stream=settings.stream,
        timeout_seconds=settings.timeout_seconds,
    ) as provider:
        yield provider


def _setting(script: Session, config: Config, agent: str | None, name: str) -> Setting:
    tools = config.tools
    return Setting(
        session=name,
        agent=agent or script.agent or "main",
        model=script.model or config.provider.model or "scripted",
        options={**config.provider.options, **script.options},
        sections=script.sections,
        recorded=script.recorded,
        budget=config.budget,
        budget_tokens=config.context.budget_tokens,
        limits=ToolLimits(tools.timeout_ms, tools.output_kib * 1024, tools.env),
    )
