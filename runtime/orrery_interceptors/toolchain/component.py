"""Build a cargo package into a component of the world `orrery-extension`, the same bytes wherever it is built.

What decides the bytes is pinned: the profile, the stack, the names of source files that panics carry. What an author
may choose stays in `Cargo.toml`: `opt-level`, and the stack where the default is too small::

    [package.metadata.orrery]
    stackKiB = 128
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import OrreryError
from .rust import TARGET, RustToolchain

WORLD = "orrery-extension"
STACK_KIB = 32
"""The stack of a guest. With it the stack, the static data and a small heap share the memory's first 64 KiB page."""

_MOST_STACK_KIB = 16 * 1024
_PROFILE = {
    "CODEGEN_UNITS": "1",
    "DEBUG": "false",
    "INCREMENTAL": "false",
    "LTO": "fat",
    "PANIC": "abort",
    "STRIP": "symbols",
}


class BuildError(OrreryError):
    """The package does not build, or what it builds is no extension. `output` is what the failing tool wrote."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(f"{message}\n{output.rstrip()}" if output.strip() else message)
        self.output = output


@dataclass(frozen=True, slots=True)
class CargoPackage:
    """What a build needs to know of a cargo package.

    `sources` are the folders of all packages that go into the build, the workspace's and its path dependencies' as
    well as the registry's, by `name-version`. `local` are those of them that no registry vouches for.
    """

    name: str
    manifest: Path
    workspace: Path
    locked: bool
    stack_kib: int
    sources: Mapping[str, Path]
    local: tuple[Path, ...]


def read_package(toolchain: RustToolchain, folder: Path) -> CargoPackage:
    """Ask cargo about the package in a folder. Fetches its dependencies. Raises `BuildError`."""
    manifest = folder.absolute() / "Cargo.toml"
    if not manifest.is_file():
        raise BuildError(f"{manifest}: there is no such file; a Rust extension is a cargo package")
    command = [str(toolchain.cargo), "metadata", "--format-version=1", f"--filter-platform={TARGET}"]
    command += [f"--manifest-path={manifest}"]
    return package_from_metadata(json.loads(_run(command, toolchain, f"{manifest}: cargo cannot read it")), manifest)


def package_from_metadata(metadata: Mapping[str, Any], manifest: Path) -> CargoPackage:
    """The package of a manifest, from what `cargo metadata` says. Raises `BuildError` where it is no extension."""
    packages = metadata["packages"]
    package = next((each for each in packages if Path(each["manifest_path"]).resolve() == manifest.resolve()), None)
    if package is None:
        raise BuildError(f"{manifest}: is a workspace; give the folder of one of its packages")
    if not any("cdylib" in target["crate_types"] for target in package["targets"]):
        raise BuildError(f'{manifest}: builds no component; add `crate-type = ["cdylib"]` under [lib]')
    stack = ((package.get("metadata") or {}).get("orrery") or {}).get("stackKiB", STACK_KIB)
    if not isinstance(stack, int) or not 4 <= stack <= _MOST_STACK_KIB:
        raise BuildError(
            f"{manifest} [package.metadata.orrery.stackKiB]: must be 4 to {_MOST_STACK_KIB}, not {stack!r}"
        )
    workspace = Path(metadata["workspace_root"])
    return CargoPackage(
        name=package["name"],
        manifest=manifest,
        workspace=workspace,
        locked=(workspace / "Cargo.lock").is_file(),
        stack_kib=stack,
        sources={f"{each['name']}-{each['version']}": Path(each["manifest_path"]).parent for each in packages},
        local=tuple(sorted(Path(each["manifest_path"]).parent for each in packages if each["source"] is None)),
    )


def rust_flags(package: CargoPackage) -> list[str]:
    """The flags that make a build small and independent of where it stands.

    Source paths go into panic messages. Each package's folder is written as `name-version`, both as the absolute path
    by which cargo names a dependency and as the path within the workspace by which it names a member.
    """
    prefixes: dict[str, str] = {}
    for name, folder in package.sources.items():
        prefixes[str(folder)] = name
        if folder == package.workspace:
            prefixes["src"] = f"{name}/src"
        elif folder.is_relative_to(package.workspace):
            prefixes[str(folder.relative_to(package.workspace))] = name
    # Where several prefixes fit, rustc takes the one given last.
    ordered = sorted(prefixes.items(), key=lambda item: (len(item[0]), item[0]))
    return [
        f"-Clink-arg=-zstack-size={package.stack_kib * 1024}",
        *(f"--remap-path-prefix={prefix}={name}" for prefix, name in ordered),
    ]


def build_component(
    toolchain: RustToolchain, folder: Path, output: Path, *, wit: Path, target_dir: Path | None = None
) -> CargoPackage:
    """Build the package in `folder` and write its component to `output`, checked against the world in `wit`.

    `target_dir` is where cargo keeps its work; by default the package's own. `output` appears whole or not at all.
    Raises `BuildError`.
    """
    wasm_tools = find_wasm_tools()
    package = read_package(toolchain, folder)
    core = _compile(toolchain, package, target_dir)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".orrery-", dir=output.parent) as temporary:
        made = Path(temporary) / "component.wasm"
        _run(
            [str(wasm_tools), "component", "new", str(core), "-o", str(made)],
            toolchain,
            f"{package.name}: is no component; does it export its extension (`orrery_ext_api::export!`)?",
        )
        check_component(made, wit, package.name)
        made.replace(output)
    return package


def check_component(component: Path, wit: Path, name: str) -> None:
    """Check a component against the world `orrery-extension`. Raises `BuildError` with what differs."""
    command = [str(find_wasm_tools()), "component", "targets", str(wit), "-w", WORLD, str(component)]
    _run(command, None, f"{name}: the component is not of the world {WORLD}")


def contract() -> Path:
    """The folder of the contract: what came with the package, or in a checkout `wit`. Raises `BuildError`."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "wit", package.parents[1] / "wit"):
        if (folder / "interceptors.wit").is_file():
            return folder
    raise BuildError(f"{package / 'wit'}: the contract is missing; install the package again")


def find_wasm_tools() -> Path:
    """The `wasm-tools` program: beside this Python, or on the PATH. Raises `BuildError`."""
    found = shutil.which("wasm-tools", path=str(Path(sys.executable).parent)) or shutil.which("wasm-tools")
    if found is None:
        raise BuildError("wasm-tools is not installed; run `pip install 'orrery-interceptors[build]'`")
    return Path(found)


def _compile(toolchain: RustToolchain, package: CargoPackage, target_dir: Path | None) -> Path:
    command = [str(toolchain.cargo), "build", "--lib", "--release", f"--target={TARGET}"]
    command += [f"--manifest-path={package.manifest}", "--message-format=json-render-diagnostics"]
    command += ["--locked"] if package.locked else []
    command += [f"--target-dir={target_dir}"] if target_dir else []
    extra = {f"CARGO_PROFILE_RELEASE_{key}": value for key, value in _PROFILE.items()}
    extra["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(rust_flags(package))
    printed = _run(command, toolchain, f"{package.manifest}: does not build", extra)
    for line in printed.splitlines():
        message = json.loads(line)
        if (
            message.get("reason") == "compiler-artifact"
            and Path(message["manifest_path"]).resolve() == package.manifest.resolve()
        ):
            for path in map(Path, message["filenames"]):
                if path.suffix == ".wasm":
                    return path
    raise BuildError(f"{package.manifest}: cargo built no .wasm file")


def _run(
    command: list[str], toolchain: RustToolchain | None, failure: str, extra: Mapping[str, str] | None = None
) -> str:
    environment = {**os.environ, **(toolchain.environment if toolchain else {}), **(extra or {})}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, errors="replace")
    if done.returncode:
        raise BuildError(failure, done.stderr)
    return done.stdout
