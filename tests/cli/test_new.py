"""`orrery ext new` makes folders that build, and says what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orrery_interceptors.cases import read_cases
from orrery_interceptors.cli.ext.templates import files_of
from orrery_interceptors.manifest import read_manifest
from orrery_interceptors.points import Point
from orrery_interceptors.toolchain.languages import Language


@pytest.mark.parametrize("point", Point)
@pytest.mark.parametrize("language", Language)
def test_every_template_is_whole(tmp_path: Path, language: Language, point: Point) -> None:
    for name, text in files_of("acme-guard", language, point).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert read_manifest(tmp_path).name == "acme-guard"
    assert len(read_cases(tmp_path / "cases.toml")) == 2


@pytest.mark.parametrize("point", [str(point) for point in Point])
def test_a_new_extension_builds_and_passes(orrery: Any, tmp_path: Path, point: str) -> None:
    # TypeScript builds in seconds; Rust has a test of its own, Python is built by the documents' commands.
    folder = tmp_path / "with spaces é" / "acme-guard"
    assert orrery("ext", "new", folder, "--lang", "ts", "--point", point).exit_code == 0
    made = orrery("ext", "build", folder)
    assert made.exit_code == 0, made.stderr
    done = orrery("ext", "test", folder)
    assert done.exit_code == 0 and "2 passed, 0 failed" in done.stdout


def test_a_new_rust_extension_builds_and_passes(orrery: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from guests.build import BUILD

    monkeypatch.setenv("CARGO_TARGET_DIR", str(BUILD / "target"))
    folder = tmp_path / "acme-guard"
    assert orrery("ext", "new", folder, "--lang", "rust", "--point", "context.build").exit_code == 0
    made = orrery("ext", "build", folder)
    assert made.exit_code == 0, made.stderr
    assert "2 passed, 0 failed" in orrery("ext", "test", folder).stdout


def test_what_is_wrong_is_said_and_nothing_made(orrery: Any, tmp_path: Path) -> None:
    for name, more, what in (
        ("Bad_Name", ("--lang", "rust", "--point", "tool.before"), "is no name"),
        ("fine", (), "--lang"),
        ("fine", ("--lang", "rust"), "--point"),
    ):
        done = orrery("ext", "new", tmp_path / name, *more)
        assert done.exit_code == 2 and what in done.stderr
    assert not list(tmp_path.iterdir())
    (tmp_path / "there").mkdir()
    done = orrery("ext", "new", tmp_path / "there", "--lang", "rust", "--point", "tool.before")
    assert done.exit_code == 2 and "is there already" in done.stderr


def test_a_build_that_fails_gives_the_compilers_words(orrery: Any, tmp_path: Path) -> None:
    folder = tmp_path / "acme-guard"
    orrery("ext", "new", folder, "--lang", "ts", "--point", "tool.before")
    (folder / "extension.ts").write_text("export default 5 +;")
    done = orrery("ext", "build", folder)
    assert done.exit_code == 1 and "does not" in done.stderr and "Traceback" not in done.stderr
    assert not list(folder.glob("*.wasm")) and not list(folder.glob(".orrery-*"))
