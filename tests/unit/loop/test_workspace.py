"""No path leads out of a workspace."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from orrery_interceptors.loop.tools.workspace import PathRefusedError, Workspace, read_up_to


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    return secret


def read(workspace: Workspace, path: str) -> bytes:
    with workspace.file(path) as fd:
        return read_up_to(fd, 1000)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "a/../../secret.txt",
        "./../secret.txt",
        "..",
        "/etc/passwd",
        "/",
        "//etc/passwd",
        "a/b/../../..",
    ],
)
def test_a_path_that_leads_out_is_refused_without_a_look(folder: Path, outside: Path, path: str) -> None:
    with Workspace(folder) as workspace, pytest.raises(PathRefusedError, match="outside"):
        read(workspace, path)


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800"])
def test_a_path_that_is_none_is_refused(folder: Path, path: str) -> None:
    with Workspace(folder) as workspace, pytest.raises(PathRefusedError):
        workspace.parts(path)


def test_absolute_paths_inside_are_fine_also_through_the_name_the_workspace_was_opened_by(folder: Path) -> None:
    (folder / "a.txt").write_text("a")
    link = folder.parent / "link"
    link.symlink_to(folder)
    with Workspace(link) as workspace:
        assert read(workspace, str(folder / "a.txt")) == b"a"
        assert read(workspace, f"{link}/b/../a.txt") == b"a"
        assert workspace.parts(str(link)) == ()


def test_a_sibling_whose_name_begins_alike_is_outside(folder: Path) -> None:
    with Workspace(folder) as workspace, pytest.raises(PathRefusedError, match="outside"):
        workspace.parts(f"{folder}2/a")


@pytest.mark.parametrize("target", ["../secret.txt", "inside.txt", "nowhere"])
def test_a_link_as_the_last_component_is_refused_for_reading_and_writing(
    folder: Path, outside: Path, target: str
) -> None:
    (folder / "inside.txt").write_text("inside")
    (folder / "link").symlink_to(target)
    with Workspace(folder) as workspace:
        with pytest.raises(PathRefusedError, match="symbolic link"):
            read(workspace, "link")
        with pytest.raises(PathRefusedError, match="symbolic link"):
            workspace.write("link", b"x")
    assert outside.read_text() == "secret"
    assert not (folder / "nowhere").exists()


def test_a_link_on_the_way_is_refused_for_reading_and_writing(folder: Path, outside: Path) -> None:
    (folder / "up").symlink_to("..")
    with Workspace(folder) as workspace:
        with pytest.raises(PathRefusedError, match="up is a symbolic link"):
            read(workspace, "up/secret.txt")
        with pytest.raises(PathRefusedError, match="up is a symbolic link"):
            workspace.write("up/new.txt", b"x")
        with pytest.raises(PathRefusedError, match="up is a symbolic link"):
            workspace.write("up/new/deep.txt", b"x")
    assert sorted(path.name for path in folder.parent.iterdir()) == ["secret.txt", "workspace"]


def test_a_link_swapped_in_while_paths_are_walked_never_wins(folder: Path, outside: Path) -> None:
    real, aside = folder / "d", folder / "aside"
    real.mkdir()
    (real / "secret.txt").write_text("mine")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            with suppress(OSError):
                real.rename(aside)
                real.symlink_to("..")
            with suppress(OSError):
                real.unlink()
            # Writing may have made the folder while it was missing.
            shutil.rmtree(real, ignore_errors=True)
            with suppress(OSError):
                aside.rename(real)

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen = set()
    try:
        with Workspace(folder) as workspace:
            for _ in range(2000):
                try:
                    seen.add(read(workspace, "d/secret.txt"))
                    workspace.write("d/secret.txt", b"mine")
                except PathRefusedError:
                    seen.add(b"refused")
    finally:
        done.set()
        swapper.join()
    assert b"secret" not in seen
    assert outside.read_text() == "secret"


def test_special_files_are_refused_at_once(folder: Path) -> None:
    os.mkfifo(folder / "fifo")
    with Workspace(folder) as workspace:
        for action in (lambda: read(workspace, "fifo"), lambda: workspace.write("fifo", b"x")):
            with pytest.raises(PathRefusedError, match="special file"):
                action()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_devices_are_refused(folder: Path) -> None:
    try:
        os.mknod(folder / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("no device can be made here")
    with Workspace(folder) as workspace, pytest.raises(PathRefusedError, match="special file"):
        read(workspace, "null")


def test_writing_makes_folders_keeps_permissions_and_leaves_no_other_file(folder: Path) -> None:
    with Workspace(folder) as workspace:
        assert workspace.write("a/b/c.sh", b"one") is True
        (folder / "a/b/c.sh").chmod(0o750)
        assert workspace.write("a/b/c.sh", b"two") is False
    assert (folder / "a/b/c.sh").read_bytes() == b"two"
    assert stat.S_IMODE((folder / "a/b/c.sh").stat().st_mode) == 0o750
    assert [path.name for path in (folder / "a/b").iterdir()] == ["c.sh"]


def test_a_hard_link_to_the_outside_is_replaced_and_not_written_through(folder: Path, outside: Path) -> None:
    os.link(outside, folder / "hard")
    with Workspace(folder) as workspace:
        workspace.write("hard", b"mine")
    assert outside.read_text() == "secret"


def test_a_file_that_changed_since_it_was_read_is_not_replaced(folder: Path) -> None:
    (folder / "a").write_text("one")
    before = (folder / "a").stat()
    (folder / "a").write_text("longer")
    with Workspace(folder) as workspace, pytest.raises(PathRefusedError, match="changed"):
        workspace.write("a", b"two", instead_of=before)
    assert [path.name for path in folder.iterdir()] == ["a"]
    assert (folder / "a").read_text() == "longer"


@pytest.mark.parametrize("path", [".orrery/config.toml", ".Orrery/x", "sub/.orrery/lock.toml", ".orrery"])
def test_the_projects_own_folder_is_never_written(folder: Path, path: str) -> None:
    with Workspace(folder) as workspace, pytest.raises(PathRefusedError, match="do not write"):
        workspace.write(path, b"x")
    assert list(folder.iterdir()) == []


def test_folders_in_place_of_files_and_the_other_way_round(folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "f").write_text("f")
    with Workspace(folder) as workspace:
        for path in ("d", ".", "d/.."):
            with pytest.raises(PathRefusedError, match="is a folder"):
                read(workspace, path)
            with pytest.raises(PathRefusedError, match="is a folder"):
                workspace.write(path, b"x")
        with pytest.raises(PathRefusedError, match="f: not a directory"):
            read(workspace, "f/g")
        with pytest.raises(PathRefusedError, match="no such file"):
            read(workspace, "nowhere")
        with pytest.raises(PathRefusedError, match="too long"):
            workspace.write("x" * 300, b"x")


def test_no_descriptor_is_left_open(folder: Path) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    if not Path("/proc/self/fd").exists():
        pytest.skip("descriptors cannot be counted here")
    (folder / "link").symlink_to("..")
    before = count()
    with Workspace(folder) as workspace:
        workspace.write("a/b", b"x")
        read(workspace, "a/b")
        for path in ("link/x", "a/b/c", "nowhere/x", "a"):
            with pytest.raises(PathRefusedError):
                read(workspace, path)
    assert count() == before
