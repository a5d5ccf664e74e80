"""`builtin.glob` and `builtin.grep`: what there is in the workspace, and where something is written.

Regular expressions of a model can take time without end in any backtracking engine, and Python's cannot be
interrupted. They run in a child process (`grepworker`) that is killed when its time is up. The alternative, an engine
of linear time, would be one more compiled dependency and would refuse the look-arounds that models like to write.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import ByteSendStream

from ...jsontext import Json
from ..outcomes import Outcome, error, ok, truncated
from .base import ToolContext
from .globs import Walk, find, matches, pattern_parts
from .schema import Schema, object_schema, problem
from .workspace import PathRefusedError, Workspace, read_up_to

MAX_FOUND = 1000
"""Most paths that a glob returns."""
MAX_MATCHES = 200
"""Most matching lines that a grep returns."""
MAX_FILE = 4 * 1024 * 1024
MAX_SEARCHED = 64 * 1024 * 1024
LINE_WIDTH = 500
GREP_SECONDS = 10.0

_WORKER = Path(__file__).with_name("grepworker.py")
_PATTERN: Schema = {"type": "string", "minLength": 1, "maxLength": 1024}


class Glob:
    """Lists files and folders. The value is a sorted list of paths, folders ending in `/`; `omitted` counts paths, and
    is 0 where the walk itself had to stop."""

    name = "builtin.glob"
    schema = object_schema(
        "List files and folders of the workspace whose path matches a pattern. Folders end in /. Hidden names are "
        "matched only by patterns that spell the dot.",
        {"pattern": {**_PATTERN, "description": "`*` and `?` within a name, `**` for any folders: src/**/*.py"}},
    )

    async def run(self, input: Json, context: ToolContext) -> Outcome:
        """List. See the class."""
        if wrong := problem(self.schema, input):
            return error(wrong)
        return await to_thread.run_sync(_glob, context.workspace, input["pattern"])


class Grep:
    """Finds lines that match a regular expression.

    The value is `{"matches": [{"path", "line", "text"}], "searched": files, "skipped": files}`; skipped are files
    too large to search, and all beyond the bound of the whole. `omitted` counts matches.
    """

    name = "builtin.grep"
    schema = object_schema(
        "Find the lines of text files in the workspace that match a regular expression (Python's syntax).",
        {"pattern": {**_PATTERN, "description": "The regular expression, searched for in each line."}},
        {
            "path": {"type": "string", "minLength": 1, "description": "A file or folder to search; all if left out."},
            "glob": {**_PATTERN, "description": "Search only files that match, relative to path: **/*.py"},
        },
    )

    def __init__(self, seconds: float = GREP_SECONDS) -> None:
        """`seconds` bounds one search."""
        self._seconds = seconds

    async def run(self, input: Json, context: ToolContext) -> Outcome:
        """Search. See the class."""
        if wrong := problem(self.schema, input):
            return error(wrong)
        try:
            files, walk = await to_thread.run_sync(
                _candidates, context.workspace, input.get("path", "."), input.get("glob", "**")
            )
            with anyio.fail_after(self._seconds):
                return await _search(context.workspace, input["pattern"], files, walk)
        except PathRefusedError as refused:
            return error(str(refused))
        except TimeoutError:
            return error(f"no end within {self._seconds:g} seconds; search fewer files, or with a simpler expression")


def _glob(workspace: Workspace, pattern: str) -> Outcome:
    walk = Walk()
    try:
        found = sorted(
            "/".join(path) + ("/" if is_folder else "")
            for path, is_folder in find(workspace, (), pattern_parts(workspace, pattern), walk)
        )
    except PathRefusedError as refused:
        return error(str(refused))
    if walk.complete and len(found) <= MAX_FOUND:
        return ok(found)
    return truncated(found[:MAX_FOUND], max(0, len(found) - MAX_FOUND))


def _candidates(workspace: Workspace, path: str, glob: str) -> tuple[list[str], Walk]:
    """The files to search. What `path` names itself is searched even where it is hidden."""
    walk = Walk()
    base = workspace.parts(path)
    if base and _is_file(workspace, path):
        return (["/".join(base)] if glob == "**" or matches(pattern_parts(workspace, glob), base[-1:]) else []), walk
    found = find(workspace, base, pattern_parts(workspace, glob), walk)
    return ["/".join(parts) for parts, is_folder in found if not is_folder], walk


def _is_file(workspace: Workspace, path: str) -> bool:
    try:
        with workspace.folder(workspace.parts(path)):
            return False
    except PathRefusedError:
        with workspace.file(path):
            return True


@dataclass(slots=True)
class _Tally:
    searched: int = 0
    skipped: int = 0
    bytes: int = 0


async def _search(workspace: Workspace, pattern: str, files: list[str], walk: Walk) -> Outcome:
    command = [sys.executable, "-I", "-S", str(_WORKER)]
    async with await anyio.open_process(command, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        tally, output = _Tally(), bytearray()
        request = {"pattern": pattern, "most": MAX_MATCHES, "width": LINE_WIDTH}
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_feed, process.stdin, request, _texts(workspace, files, tally))
                async for chunk in process.stdout:
                    output += chunk
            await process.wait()
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        return error("the expression needs more memory than a search may take")
    *lines, last = [json.loads(line) for line in output.splitlines()]
    if "error" in last:
        return error(last["error"])
    value = {"matches": lines, "searched": tally.searched, "skipped": tally.skipped}
    if walk.complete and last["total"] <= MAX_MATCHES:
        return ok(value)
    return truncated(value, max(0, last["total"] - MAX_MATCHES))


def _texts(workspace: Workspace, files: list[str], tally: _Tally) -> Iterator[tuple[str, bytes]]:
    """The text files among them, each whole. Binary ones are passed over, as there is nothing to read in them."""
    for path in files:
        try:
            with workspace.file(path) as fd:
                size = os.fstat(fd).st_size
                if size > MAX_FILE or tally.bytes + size > MAX_SEARCHED:
                    tally.skipped += 1
                    continue
                data = read_up_to(fd, MAX_FILE)
        except (PathRefusedError, OSError):
            tally.skipped += 1
            continue
        tally.bytes += len(data)
        if b"\0" not in data:
            tally.searched += 1
            yield path, data


async def _feed(sink: ByteSendStream, request: Json, texts: Iterator[tuple[str, bytes]]) -> None:
    """Write the request and the texts. A worker that wants no more has said why on its output."""
    try:
        await sink.send(json.dumps(request).encode() + b"\n")
        while (text := await to_thread.run_sync(next, texts, None)) is not None:
            path, data = text
            await sink.send(json.dumps({"path": path, "bytes": len(data)}).encode() + b"\n" + data)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    finally:
        with anyio.CancelScope(shield=True):
            await sink.aclose()
