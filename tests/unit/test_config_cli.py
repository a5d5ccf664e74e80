"""`orrery config show`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from orrery_interceptors.cli import config as command
from orrery_interceptors.config import KEYS, Places, layers


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    places = Places(tmp_path / "user.toml", tmp_path / "org.toml", tmp_path / "managed.toml")
    monkeypatch.setattr(layers, "Places", lambda: places)
    folder = tmp_path.resolve() / "project"
    (folder / ".orrery").mkdir(parents=True)
    (folder / ".orrery" / "config.toml").write_text(
        '[limits]\nfuel = 5\ninFlight = 2\n[[extensions]]\npath = "ext"\noptional = true\nenabled = false\n'
    )
    (tmp_path / "managed.toml").write_text('locked = ["limits.fuel"]\nlimits.fuel = 7\n')
    return folder


def show(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command.group, ["show", *map(str, arguments)])


def test_plain_lines(project: Path) -> None:
    result = show("--project", project)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    file, managed = project / ".orrery" / "config.toml", project.parent / "managed.toml"
    assert [line.split(" = ")[0] for line in lines] == [*KEYS, "extensions[0]"]
    assert "deadlines.gateMs = 250  # default" in lines
    assert "provider.model = not set  # default" in lines
    assert f"limits.fuel = 7  # {managed}:2 (locked by {managed})" in lines
    assert f"limits.inFlight = 2  # {file}:3" in lines
    assert f'extensions[0] = "{project}/ext" (optional, off)  # {file}:4' in lines
    ignored = f"is locked by {managed}; what this file says does not count (remove it here)"
    assert result.stderr == f"warning: {file}:2 [limits.fuel]: {ignored}\n"


def test_json(project: Path) -> None:
    shown = json.loads(show("--project", project, "--json").stdout)
    assert shown["project"] == str(project)
    assert [file["layer"] for file in shown["files"]] == ["project", "managed"]
    assert list(shown["keys"]) == list(KEYS)
    managed = str(project.parent / "managed.toml")
    assert shown["keys"]["limits.fuel"] == {
        "value": 7,
        "layer": "managed",
        "file": managed,
        "line": 2,
        "lockedBy": managed,
    }
    assert shown["keys"]["provider.model"] == {
        "value": None,
        "layer": "default",
        "file": None,
        "line": None,
        "lockedBy": None,
    }
    assert shown["extensions"] == [
        {
            "path": f"{project}/ext",
            "declared": "ext",
            "optional": True,
            "enabled": False,
            "settings": {},
            "layer": "project",
            "file": f"{project}/.orrery/config.toml",
            "line": 4,
        }
    ]
    assert [warning["key"] for warning in shown["warnings"]] == ["limits.fuel"]


def test_a_table_on_a_terminal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "Console", lambda: Console(force_terminal=True, width=300, no_color=True))
    result = show("--project", project)
    (row,) = [line for line in result.stdout.splitlines() if "limits.fuel" in line]
    assert "managed.toml:2 (locked by" in row
    assert "warning: " in result.stderr


def test_the_project_is_found_from_the_current_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "deep").mkdir()
    monkeypatch.chdir(project / "deep")
    assert json.loads(show("--json").stdout)["project"] == str(project)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_bad_config_exits_2_and_shows_nothing(project: Path, options: list[str]) -> None:
    file = project / ".orrery" / "config.toml"
    file.write_text("[limits]\nfuel = 0\nfule = 1\n")
    result = show("--project", project, *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    first, second = result.stderr.splitlines()
    assert first == f"error: {file}:2 [limits.fuel]: must be between 1 and 1000000000000000, not 0"
    assert second.startswith(f"error: {file}:3 [limits.fule]: unknown key (did you mean fuel? known here: ")


def test_a_folder_that_is_not_there_is_bad_usage(tmp_path: Path) -> None:
    assert show("--project", tmp_path / "none").exit_code == 2


def test_nothing_a_stranger_wrote_moves_the_terminal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = project / ".orrery" / "config.toml"
    file.write_text('[provider]\nmodel = "a\\u001b[2J\\u009b\\u202eb\\U000e0041[red]"\n')
    plain = show("--project", project)
    assert 'provider.model = "a\\u001b[2Jb[red]"' in plain.stdout
    as_json = show("--project", project, "--json")
    assert json.loads(as_json.stdout)["keys"]["provider.model"]["value"] == "a\x1b[2J\x9b\u202eb\U000e0041[red]"
    monkeypatch.setattr(command, "Console", lambda: Console(force_terminal=True, width=300, no_color=True))
    table = show("--project", project)
    assert "b[red]" in table.stdout
    file.write_text('"\\u001b[2J\\u202e" = 1\n')
    wrong = show("--project", project)
    assert wrong.exit_code == 2
    for result in (plain, as_json, table, wrong):
        text = (result.stdout + result.stderr).replace("\x1b[1m", "").replace("\x1b[0m", "")
        assert not set(text) & set("\x1b\x9b\u202e\U000e0041")
