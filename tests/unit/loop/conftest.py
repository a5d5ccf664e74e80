"""Every asynchronous test of the loop runs on asyncio and, where it is installed, on trio."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from orrery_interceptors.loop.tools import ToolContext, Workspace

BACKENDS = ["asyncio", "trio"] if importlib.util.find_spec("trio") else ["asyncio"]


@pytest.fixture(params=BACKENDS)
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The workspace's folder; `tmp_path` around it is outside."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def context(folder: Path) -> Iterator[ToolContext]:
    with Workspace(folder) as workspace:
        yield ToolContext(workspace)
