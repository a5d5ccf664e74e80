"""Build the Rust samples again, and record with what: `python samples/rebuild.py [NAME…]`."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from orrery_interceptors.toolchain.component import build_component
from orrery_interceptors.toolchain.rust import default_folder, find

SAMPLES = Path(__file__).resolve().parent


def main(names: list[str]) -> None:
    """Build the samples of these names, or all."""
    toolchain = find(default_folder())
    folders = sorted(path.parent for path in SAMPLES.glob("*/Cargo.toml") if (path.parent / "orrery.toml").exists())
    lines = ["# What the committed components were built with, and their digests. Written by rebuild.py.\n"]
    lines.append(f'toolchain = "{toolchain.description}"\n\n[components]\n')
    for folder in folders:
        output = folder / f"{folder.name.replace('-', '_')}.wasm"
        if not names or folder.name in names:
            build_component(toolchain, folder, output, wit=SAMPLES.parent / "wit")
        lines.append(f'{folder.name} = "sha256:{hashlib.sha256(output.read_bytes()).hexdigest()}"\n')
    (SAMPLES / "TOOLCHAIN.toml").write_text("".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
