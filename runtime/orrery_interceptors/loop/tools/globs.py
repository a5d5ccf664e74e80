"""Glob patterns over the folders of a workspace.

`*` is any run of characters of one name and `?` any one of them; `**` as a whole component is any number of folders,
and at the end all that is below. Nothing else is special. A name that begins with a dot is matched only by a component
that begins with one, as in a shell. Links are neither listed nor followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from anyio import from_thread

from .workspace import PathRefusedError, Workspace, open_below, walk_folder

MAX_VISITED = 100_000
MAX_DEPTH = 64


@dataclass(slots=True)
class Walk:
    """How far a walk came. `complete` is false where a bound cut it, or a folder could not be read."""

    visited: int = 0
    complete: bool = True


def find(
    workspace: Workspace, base: tuple[str, ...], pattern: tuple[str, ...], walk: Walk
) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Paths that the pattern matches below the folder `base`, sorted within each folder, and whether each is a folder.

    The paths are the workspace's, `base` included. Raises `PathRefusedError` where `base` is no folder of the
    workspace. Runs in a worker thread.
    """
    with workspace.folder(base) as fd:
        yield from _below(fd, base, pattern, _closed({0}, pattern), walk)


def matches(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether a pattern matches a whole path."""
    states = _closed({0}, pattern)
    for name in path:
        states = _after(states, pattern, name)
    return len(pattern) in states


def _below(
    fd: int, above: tuple[str, ...], pattern: tuple[str, ...], states: set[int], walk: Walk
) -> Iterator[tuple[tuple[str, ...], bool]]:
    try:
        entries = list(walk_folder(fd))
    except OSError:
        walk.complete = False
        return
    for name, is_folder in entries:
        from_thread.check_cancelled()
        walk.visited += 1
        if walk.visited > MAX_VISITED:
            walk.complete = False
            return
        reached = _after(states, pattern, name)
        if not reached:
            continue
        path = (*above, name)
        if len(pattern) in reached:
            yield path, is_folder
        if is_folder and any(state < len(pattern) for state in reached):
            if len(path) >= MAX_DEPTH:
                walk.complete = False
                continue
            try:
                below = open_below(name, fd)
            except OSError:
                walk.complete = False
                continue
            try:
                yield from _below(below, path, pattern, reached, walk)
            finally:
                os.close(below)


def _after(states: set[int], pattern: tuple[str, ...], name: str) -> set[int]:
    """The places in the pattern that may be reached by one more name."""
    reached = set()
    for state in states:
        if state == len(pattern):
            continue
        if pattern[state] == "**":
            if not name.startswith("."):
                reached.add(state)
        elif _matches_name(pattern[state], name):
            reached.add(state + 1)
    return _closed(reached, pattern)


def _closed(states: set[int], pattern: tuple[str, ...]) -> set[int]:
    """With the places that are reached by nothing: `**` also stands for no folder at all."""
    closed = set(states)
    for state in states:
        at = state
        while at < len(pattern) and pattern[at] == "**":
            at += 1
            closed.add(at)
    return closed


def _matches_name(pattern: str, name: str) -> bool:
    """Match one component in time at most linear in the product of both lengths."""
    if name.startswith(".") and not pattern.startswith("."):
        return False
    at = place = 0
    star, retry = -1, 0
    while place < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, retry, at = at, place, at + 1
        elif at < len(pattern) and pattern[at] in ("?", name[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            retry += 1
            at, place = star + 1, retry
        else:
            return False
    return all(char == "*" for char in pattern[at:])


def pattern_parts(workspace: Workspace, pattern: str) -> tuple[str, ...]:
    """A pattern's components. Raises `PathRefusedError` for one that leads out or matches nothing at all."""
    if ".." in pattern.split("/"):
        raise PathRefusedError("a pattern cannot hold ..")
    parts = workspace.parts(pattern)
    if not parts:
        raise PathRefusedError("the pattern names the workspace itself; try *")
    return (*parts, "*") if parts[-1] == "**" else parts
