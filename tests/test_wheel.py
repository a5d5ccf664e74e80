"""A wheel built from the tree works away from it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from conftest import ROOT


def test_a_wheel_works_in_another_environment(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(ROOT)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "orrery_interceptors/wit/interceptors.wit" in names and "orrery_interceptors/py.typed" in names
    assert not [name for name in names if "tests" in name or name.endswith(".pyc")]
    # The dependencies are those of this environment; the package is the wheel's alone.
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    here = Path(next(path for path in sys.path if path.endswith("site-packages")))
    for entry in here.iterdir():
        if "orrery" not in entry.name and not (site / entry.name).exists():
            (site / entry.name).symlink_to(entry)
    shutil.copytree(ROOT / "samples" / "no-force-push", tmp_path / "ext", ignore=shutil.ignore_patterns("src"))
    program = (
        "import orrery_interceptors, sys\n"
        "from orrery_interceptors import Runtime\n"
        "from orrery_interceptors.toolchain.component import contract\n"
        "assert orrery_interceptors.__file__.startswith(sys.prefix), orrery_interceptors.__file__\n"
        "assert str(contract()).startswith(sys.prefix)\n"
        "with Runtime.open(extensions=['ext']) as runtime:\n"
        "    call = {'tool': 'builtin.bash', 'input': {'command': 'git push -f'}}\n"
        "    print(runtime.decide('tool.before', call).decision)\n"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [venv / "bin" / "python", "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "deny\n", done.stderr
    text = json.dumps({"tool": "builtin.bash", "input": {"command": "ls"}})
    main = [venv / "bin" / "python", "-m", "orrery_interceptors", "check", "tool.before", "--ext", "ext", "--json"]
    done = subprocess.run(main, cwd=tmp_path, env=environment, input=text, capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["decision"] == "proceed", done.stderr
