"""Installing, listing and removing: what was agreed to, and what happens when it changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

SAMPLES = ROOT / "samples"
PUSH = json.dumps({"tool": "builtin.bash", "input": {"command": "git push -f"}})
LIST = json.dumps({"tool": "builtin.bash", "input": {"command": "ls"}})
READ = json.dumps({"tool": "builtin.read", "input": {"path": "x"}})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".orrery").mkdir(parents=True)
    target = root / "extensions" / "no-force-push"
    target.mkdir(parents=True)
    for name in ("orrery.toml", "no_force_push.wasm"):
        shutil.copy(SAMPLES / "no-force-push" / name, target)
    return root


@pytest.fixture
def installed(orrery: Any, project: Path) -> Path:
    folder = project / "extensions" / "no-force-push"
    digest = json.loads(orrery("ext", "inspect", folder, "--json").stdout)["digest"]
    done = orrery("ext", "install", folder, "--project", project, "--yes", "--digest", digest)
    assert done.exit_code == 0, done.stderr
    assert "will see every call of builtin.bash before it is made, and may refuse" in done.stderr
    return folder


def check(orrery: Any, project: Path, payload: str) -> Any:
    return orrery("check", "tool.before", "--project", project, "--json", input=payload)


def test_what_is_installed_is_in_force(orrery: Any, project: Path, installed: Path) -> None:
    assert check(orrery, project, PUSH).exit_code == 4
    assert check(orrery, project, LIST).exit_code == 0
    assert "in force" in orrery("ext", "list", "--project", project).stdout
    again = orrery("ext", "install", installed, "--project", project)
    assert again.exit_code == 0
    assert (project / ".orrery" / "config.toml").read_text().count("[[extensions]]") == 1


def test_what_is_removed_is_not(orrery: Any, project: Path, installed: Path) -> None:
    config = project / ".orrery" / "config.toml"
    config.write_text(f"# mine\n[policy]\ndeny = ['x']\n\n{config.read_text()}\n[log]\nlevel = 'error'\n")
    assert orrery("ext", "remove", "no-force-push", "--project", project).exit_code == 0
    assert check(orrery, project, PUSH).exit_code == 0
    assert config.read_text() == "# mine\n[policy]\ndeny = ['x']\n\n[log]\nlevel = 'error'\n"
    missing = orrery("ext", "remove", "no-force-push", "--project", project)
    assert missing.exit_code == 2 and "no extension no-force-push" in missing.stderr


def change_manifest(folder: Path) -> None:
    path = folder / "orrery.toml"
    path.write_text(path.read_text().replace('"tool.before:builtin.bash"', '"tool.before"'))


@pytest.mark.parametrize(
    "spoil",
    [
        change_manifest,
        lambda folder: (folder / "orrery.toml").write_text((folder / "orrery.toml").read_text() + "\n# new\n"),
        lambda folder: (folder / "no_force_push.wasm").write_bytes(b"\0asm"),
        lambda folder: (folder / "no_force_push.wasm").unlink(),
        lambda folder: (folder / "orrery.toml").unlink(),
        shutil.rmtree,
    ],
)
def test_what_was_agreed_to_and_cannot_be_loaded_fails_closed(
    orrery: Any, project: Path, installed: Path, spoil: Any
) -> None:
    spoil(installed)
    done = check(orrery, project, LIST)
    decision = json.loads(done.stdout)
    assert done.exit_code == 4 and decision["by"] == {
        "extension": "no-force-push",
        "interceptor": None,
        "kind": "load",
    }
    assert "load problem" in done.stderr
    # Only what was agreed to is denied.
    assert check(orrery, project, READ).exit_code == 0


def test_an_optional_one_is_skipped(orrery: Any, project: Path, installed: Path) -> None:
    config = project / ".orrery" / "config.toml"
    config.write_text(config.read_text() + "optional = true\n")
    shutil.rmtree(installed)
    done = check(orrery, project, LIST)
    assert done.exit_code == 0 and "load problem" in done.stderr


def test_what_nobody_agreed_to_is_not_loaded(orrery: Any, project: Path) -> None:
    (project / ".orrery" / "config.toml").write_text('[[extensions]]\npath = "extensions/no-force-push"\n')
    done = check(orrery, project, PUSH)
    assert done.exit_code == 0 and "nobody agreed to it yet" in done.stderr and "orrery ext install" in done.stderr


def test_agreeing_needs_somebody_or_a_digest(orrery: Any, project: Path) -> None:
    folder = project / "extensions" / "no-force-push"
    for more, what in (
        ((), "nobody is there to be asked"),
        (("--yes",), "--yes needs --digest"),
        (("--yes", "--digest", "sha256:" + "0" * 64), "its digest is"),
    ):
        done = orrery("ext", "install", folder, "--project", project, *more)
        assert done.exit_code == 2 and what in done.stderr
    assert not list((project / ".orrery").iterdir())


def test_without_intercept_nothing_is_registered_and_the_rest_loads(orrery: Any, tmp_path: Path) -> None:
    folder = tmp_path / "confine-writes"
    folder.mkdir()
    shutil.copy(SAMPLES / "confine-writes" / "confine_writes.wasm", folder)
    manifest = (SAMPLES / "confine-writes" / "orrery.toml").read_text()
    lines = [line for line in manifest.splitlines() if not line.startswith("intercept")]
    (folder / "orrery.toml").write_text("\n".join(lines))
    done = orrery("ext", "inspect", folder, "--json")
    said = json.loads(done.stdout)
    assert said["loaded"] and not said["interceptors"] and not said["rules"]
    assert len(said["problems"]) == 2
    assert all("intercept under [requires]" in problem["fix"] for problem in said["problems"])
