"""`orrery doctor` says what is in force, and notices what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from hostile.build import doctors_probe
from orrery_interceptors.doctor import check_limits, checks
from orrery_interceptors.sandbox import Bounds, CompileLimits, Loaded, Sandbox

NAMES = ["deadline", "fuel", "memory", "stack", "output", "log", "isolation", "no imports"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".orrery").mkdir()
    return tmp_path


def test_on_this_machine_all_of_it_holds(orrery: Any, project: Path) -> None:
    done = orrery("doctor", "--project", project, "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 0 and said["inForce"]
    assert [check["name"] for check in said["checks"]][:8] == NAMES
    plain = orrery("doctor", "--project", project)
    assert plain.stdout.count("ok  ") == 10 and "of 1000 lines 64 were kept" in plain.stdout


def test_an_extension_that_is_not_in_force_is_seen(orrery: Any, project: Path) -> None:
    (project / ".orrery" / "config.toml").write_text(f'[[extensions]]\npath = "{ROOT / "samples" / "read-only"}"\n')
    done = orrery("doctor", "--project", project)
    assert done.exit_code == 1 and "FAIL extension read-only" in done.stdout and "nobody agreed" in done.stdout


def test_a_limit_that_does_not_hold_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox that forgets its bounds: each check that rests on them fails."""
    real = Sandbox.load

    def careless(self: Sandbox, data: bytes, bounds: Bounds) -> Loaded:
        return real(self, data, Bounds(10**10, 64, 10_000, 8192, 16, 10_000))

    monkeypatch.setattr(Sandbox, "load", careless)
    monkeypatch.setattr(checks, "_SLACK_MS", -100)
    sandbox = Sandbox(cache=None, compiling=CompileLimits(60, 2048))
    failing = [check.name for check in check_limits(sandbox) if not check.holds]
    sandbox.close()
    assert {"deadline", "memory", "output", "log"} <= set(failing)


def test_the_probe_that_ships_is_the_one_of_the_tests() -> None:
    assert (ROOT / "runtime" / "orrery_interceptors" / "doctor" / "probe.wat").read_text() == doctors_probe()
