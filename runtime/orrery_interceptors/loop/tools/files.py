"""`builtin.read`, `builtin.write` and `builtin.edit`: text files of the workspace."""

from __future__ import annotations

import os

from anyio import from_thread, to_thread

from ...jsontext import Json
from ..outcomes import Outcome, error, ok, truncated
from .base import ToolContext
from .schema import Schema, object_schema, problem
from .workspace import PathRefusedError, Workspace, read_up_to

MAX_WRITE = 8 * 1024 * 1024
"""The largest content that is written, in characters, and the largest file that is edited, in bytes."""

_CHUNK = 256 * 1024
_PATH: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 4096,
    "description": "A path within the workspace: relative to it, or absolute.",
}


class Read:
    """Reads lines of a text file.

    The value is the text as it stands. What does not fit the output limit is cut at a character, and `omitted` counts
    the bytes of the file that were asked for and left out.
    """

    name = "builtin.read"
    schema = object_schema(
        "Read a text file of the workspace, whole or some of its lines.",
        {"path": _PATH},
        {
            "offset": {"type": "integer", "minimum": 1, "description": "The first line to read, counted from 1."},
            "limit": {"type": "integer", "minimum": 1, "description": "How many lines to read."},
        },
    )

    async def run(self, input: Json, context: ToolContext) -> Outcome:
        """Read. See the class."""
        if wrong := problem(self.schema, input):
            return error(wrong)
        most = context.limits.output_bytes
        first, limit = int(input.get("offset", 1)), input.get("limit")
        return await to_thread.run_sync(
            _read, context.workspace, input["path"], first, None if limit is None else int(limit), most
        )


class Write:
    """Writes a text file whole. The value tells the path, the bytes written, and whether the file is new."""

    name = "builtin.write"
    schema = object_schema(
        "Write a text file of the workspace, replacing what it held. Folders on the way are made.",
        {"path": _PATH, "content": {"type": "string", "maxLength": MAX_WRITE, "description": "The whole new text."}},
    )

    async def run(self, input: Json, context: ToolContext) -> Outcome:
        """Write. See the class."""
        if wrong := problem(self.schema, input):
            return error(wrong)
        return await to_thread.run_sync(_write, context.workspace, input["path"], input["content"])


class Edit:
    """Replaces a piece of text in a file, exactly as it stands. The value tells the path and how often."""

    name = "builtin.edit"
    schema = object_schema(
        "Replace a piece of text in a file of the workspace. It must occur exactly once, unless `all` is true.",
        {
            "path": _PATH,
            "old": {"type": "string", "minLength": 1, "description": "The text to replace, exactly as in the file."},
            "new": {"type": "string", "maxLength": MAX_WRITE, "description": "The text to put in its place."},
        },
        {"all": {"type": "boolean", "description": "Replace every occurrence."}},
    )

    async def run(self, input: Json, context: ToolContext) -> Outcome:
        """Edit. See the class."""
        if wrong := problem(self.schema, input):
            return error(wrong)
        return await to_thread.run_sync(
            _edit, context.workspace, input["path"], input["old"], input["new"], input.get("all", False)
        )


def _read(workspace: Workspace, path: str, first: int, limit: int | None, most: int) -> Outcome:
    try:
        with workspace.file(path) as fd:
            data, omitted = _lines(fd, first, limit, most)
    except PathRefusedError as refused:
        return error(str(refused))
    except OSError as trouble:
        return error(f"{path}: {(trouble.strerror or str(trouble)).lower()}")
    if b"\0" in data:
        return error(f"{path} is not a text file: it holds a NUL")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as trouble:
        if not omitted or len(data) - trouble.start >= 4:
            return error(f"{path} is not a text file: it is not UTF-8")
        text = data[: trouble.start].decode("utf-8")
        omitted += len(data) - trouble.start
    if first > 1 and not data:
        return error(f"{path} has no line {first}")
    return truncated(text, omitted) if omitted else ok(text)


def _lines(fd: int, first: int, limit: int | None, most: int) -> tuple[bytes, int]:
    """The lines asked for, as far as they fit `most` bytes, and how many of their bytes did not.

    What need not be looked at is not read: the omitted rest of a file is its size, less the place.
    """
    kept, omitted, skip, left = bytearray(), 0, first - 1, limit
    while chunk := os.read(fd, _CHUNK):
        from_thread.check_cancelled()
        at = 0
        while skip and (end := chunk.find(b"\n", at)) >= 0:
            at, skip = end + 1, skip - 1
        if skip:
            continue
        end = len(chunk)
        if left is not None:
            end = at
            while left and (newline := chunk.find(b"\n", end)) >= 0:
                end, left = newline + 1, left - 1
            if left:
                end = len(chunk)
        room = most - len(kept)
        kept += chunk[at : min(end, at + room)]
        omitted += max(0, end - at - room)
        if left == 0:
            break
        if left is None and omitted:
            omitted += max(0, os.fstat(fd).st_size - os.lseek(fd, 0, os.SEEK_CUR))
            break
    return bytes(kept), omitted


def _write(workspace: Workspace, path: str, content: str) -> Outcome:
    try:
        data = content.encode("utf-8")
        created = workspace.write(path, data)
    except UnicodeEncodeError:
        return error("the content holds a lone surrogate, which no UTF-8 file can hold")
    except PathRefusedError as refused:
        return error(str(refused))
    return ok({"path": "/".join(workspace.parts(path)), "bytes": len(data), "created": created})


def _edit(workspace: Workspace, path: str, old: str, new: str, every: bool) -> Outcome:
    if old == new:
        return error("old and new are the same text")
    try:
        with workspace.file(path) as fd:
            before = os.fstat(fd)
            data = read_up_to(fd, MAX_WRITE + 1)
        if len(data) > MAX_WRITE:
            return error(f"{path} is larger than the {MAX_WRITE} bytes that can be edited")
        text = data.decode("utf-8")
        count = text.count(old)
        if count == 0:
            return error(f"{path} does not hold the text to replace; it must match exactly, spaces and line ends too")
        if count > 1 and not every:
            return error(f"{path} holds the text {count} times; give more of its surroundings, or set all")
        workspace.write(path, text.replace(old, new).encode("utf-8"), instead_of=before)
    except UnicodeError:
        return error(f"{path} is not a text file: it is not UTF-8")
    except PathRefusedError as refused:
        return error(str(refused))
    except OSError as trouble:
        return error(f"{path}: {(trouble.strerror or str(trouble)).lower()}")
    return ok({"path": "/".join(workspace.parts(path)), "replaced": count})
