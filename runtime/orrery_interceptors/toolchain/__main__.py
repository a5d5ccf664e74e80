"""`python -m orrery_interceptors.toolchain FOLDER -o FILE`: build a Rust extension into a component."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .component import BuildError, build_component, contract
from .rust import ToolchainError, default_folder, find


def main() -> int:
    """Build; 1 when it cannot be built."""
    parser = argparse.ArgumentParser(prog="orrery-build", description="Build a Rust extension into a component.")
    parser.add_argument("folder", type=Path, help="the folder with Cargo.toml")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the component's file")
    arguments = parser.parse_args()
    try:
        build_component(find(default_folder()), arguments.folder, arguments.output, wit=contract())
    except (BuildError, ToolchainError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
