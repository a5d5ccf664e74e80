"""`python -m orrery_ext.build MODULE.py -o FILE`: make a component of a module that has an `extension`."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_ENTRY = """
from componentize_py_types import Err
from wit_world import exports

# The interpreter is kept as it stands after this module was run: what a handler needs must be imported by now.
import json, re, inspect, dataclasses  # noqa: E401, F401
from wit_world.imports import log  # noqa: F401
from orrery_ext.component import component
from {module} import extension

Extension = component(extension, exports, Err)
"""


def main() -> int:
    """Build; 1 when it cannot be built."""
    parser = argparse.ArgumentParser(prog="orrery-ext-build-py", description="Make a component of a Python extension.")
    parser.add_argument("module", type=Path, help="the file that defines `extension`")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    module: Path = arguments.module
    if not module.is_file():
        sys.stderr.write(f"error: {module}: there is no such file\n")
        return 1
    tool = shutil.which("componentize-py", path=str(Path(sys.executable).parent)) or shutil.which("componentize-py")
    if tool is None:
        sys.stderr.write("error: componentize-py is not installed; run pip install orrery-ext\n")
        return 1
    package = Path(__file__).resolve().parent
    wit = next(folder for folder in (package / "wit", package.parent / "wit") if folder.is_dir())
    with tempfile.TemporaryDirectory(dir=arguments.output.absolute().parent, prefix=".orrery-") as name:
        folder = Path(name)
        (folder / "orrery_entry.py").write_text(_ENTRY.format(module=module.stem))
        made = folder / "component.wasm"
        command = [tool, "-d", str(wit), "-w", "orrery-extension", "componentize", "--stub-wasi", "orrery_entry"]
        for path in (folder, module.absolute().parent, package.parent):
            command += ["-p", str(path)]
        done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stderr.write(f"error: {module}: no component can be made\n{done.stdout}{done.stderr}\n")
            return 1
        made.replace(arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
