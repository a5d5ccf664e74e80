"""Compiled code is kept where only the user can write, and is never trusted where that is not so."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from orrery_interceptors.sandbox import Bounds, CodeCache, CompileLimits, Loaded, Sandbox
from orrery_interceptors.sandbox import codecache as module

BOUNDS = Bounds(10**9, 64, 1024, 8192, 16, 64)
COMPONENT = (ROOT / "samples" / "no-force-push" / "no_force_push.wasm").read_bytes()


def load(folder: Path) -> Loaded:
    sandbox = Sandbox(cache=CodeCache(folder), compiling=CompileLimits(60, 2048))
    loaded = sandbox.load(COMPONENT, BOUNDS)
    reply = loaded.guest.register(b'{"protected":[],"allow_with_lease":true,"deny_delete":true}', 1000)
    assert "no-force-push" in getattr(reply.outcome, "text", "")
    sandbox.close()
    return loaded


def entry(folder: Path) -> Path:
    (found,) = folder.glob("*.cwasm")
    return found


def test_the_second_time_it_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    first, second = load(folder), load(folder)
    assert (first.cached, second.cached) == (False, True)
    assert not first.warnings and not second.warnings
    assert folder.stat().st_mode & 0o077 == 0


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "damage", [flip, lambda path: path.write_bytes(path.read_bytes()[:-1]), lambda path: path.write_bytes(b"")]
)
def test_a_damaged_entry_is_made_again(tmp_path: Path, damage: Callable[[Path], Any]) -> None:
    folder = tmp_path / "code"
    load(folder)
    damage(entry(folder))
    assert not load(folder).cached
    assert load(folder).cached


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: folder.chmod(0o770), "others may write"),
        (lambda folder: folder.chmod(0o702), "others may write"),
        (lambda folder: entry(folder).chmod(0o666), "others may write"),
        (lambda folder: os.chown(folder, 12345, -1), "another user"),
        (lambda folder: os.chown(entry(folder), 12345, -1), "another user"),
    ],
)
def test_what_others_could_write_is_refused_with_a_warning(
    tmp_path: Path, spoil: Callable[[Path], Any], why: str
) -> None:
    folder = tmp_path / "code"
    load(folder)
    try:
        spoil(folder)
    except PermissionError:
        pytest.skip("only root can give files away")
    loaded = load(folder)
    assert not loaded.cached and why in loaded.warnings[0]


def test_links_are_refused(tmp_path: Path) -> None:
    real = tmp_path / "real"
    load(real)
    link = tmp_path / "link"
    link.symlink_to(real)
    assert "is a link" in load(link).warnings[0]
    target = entry(real)
    moved = tmp_path / "moved"
    target.rename(moved)
    target.symlink_to(moved)
    assert "is a link" in load(real).warnings[0]


def test_a_folder_that_cannot_be_made_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "cannot be" in load(tmp_path / "file" / "code").warnings[0]


def test_a_full_disk_is_a_warning_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    folder = tmp_path / "code"
    assert "No space left" in load(folder).warnings[0]
    assert not list(folder.iterdir())


def test_another_engine_is_another_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "code"
    load(folder)
    monkeypatch.setattr("orrery_interceptors.sandbox.engine.config_key", lambda: "another")
    assert not load(folder).cached
    assert len(list(folder.glob("*.cwasm"))) == 2


def test_two_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    loaded: list[Loaded] = []
    threads = [threading.Thread(target=lambda: loaded.append(load(folder))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 4 and not any(one.warnings for one in loaded)
    assert len(list(folder.glob("*"))) == 1
