"""Find, or make, a Rust toolchain that compiles for wasm32-unknown-unknown.

Tried in this order:

1. an installed rustc whose sysroot holds the target's standard library;
2. rustup, asked to add the target to its toolchain;
3. Debian's packages, from whose sources the standard library is built once into a folder of the caller's.

Uses the standard library alone, so that it also runs as a plain file, before anything is installed::

    eval "$(python3 rust.py --print-env)" && cargo build --release --target wasm32-unknown-unknown

Whatever changes something outside that folder (2, and the installation of packages in 3) is said on standard error
before it is done.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

TARGET = "wasm32-unknown-unknown"
OLDEST = (1, 87)
"""The oldest rustc that compiles the SDK and what it needs."""

DEBIAN_PACKAGES = ("rustc-web", "cargo-web", "rust-web-src", "lld-19")
_DEBIAN_PREFIX = Path("/usr")

_RUSTUP_SECONDS = 180
_APT_SECONDS = 900
_STD_SECONDS = 1800


class ToolchainError(Exception):
    """There is no toolchain and none can be made. The message says what to install.

    Not an `OrreryError`: this file runs without the rest of the package.
    """


class Source(StrEnum):
    """Where a toolchain is taken from."""

    AUTO = "auto"
    INSTALLED = "installed"
    RUSTUP = "rustup"
    DEBIAN = "debian"


@dataclass(frozen=True, slots=True)
class RustToolchain:
    """A cargo and a rustc that compile for `TARGET`.

    `environment` holds the variables that cargo needs beside the caller's own. `description` has the versions of
    everything that decides what the compiled bytes are.
    """

    cargo: Path
    rustc: Path
    linker: Path
    sysroot: Path
    description: str
    environment: Mapping[str, str] = field(default_factory=dict)


Say = Callable[[str], None]


def find(folder: Path, *, source: Source = Source.AUTO, say: Say | None = None) -> RustToolchain:
    """A toolchain from the first source that has one, or from the given source alone.

    `folder` is where a standard library is built when that is the way. Raises `ToolchainError`.
    """
    say = say or _to_stderr
    reasons: list[str] = []
    for way, attempt in (
        (Source.INSTALLED, _installed),
        (Source.RUSTUP, lambda: _rustup(say)),
        (Source.DEBIAN, lambda: _debian(folder, say)),
    ):
        if source in (Source.AUTO, way):
            try:
                return attempt()
            except ToolchainError as error:
                reasons.append(f"- {way}: {error}")
    raise ToolchainError(
        f"no Rust toolchain that compiles for {TARGET}:\n"
        + "\n".join(reasons)
        + f"\nInstall Rust {_dotted(OLDEST)} or later with rustup and run `rustup target add {TARGET}`, "
        + f"or on Debian 12 run `sudo apt-get install {' '.join(DEBIAN_PACKAGES)}`."
    )


def default_folder() -> Path:
    """Where a standard library is built when nobody says: `.toolchain` in a checkout, else the user's cache."""
    root = Path(__file__).resolve().parents[3]
    if (root / "wit").is_dir() and (root / "guest-sdk").is_dir():
        return root / ".toolchain"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "orrery" / "toolchain"


# ---- 1. installed ------------------------------------------------------------------------------------------------


def _installed() -> RustToolchain:
    problems = []
    for rustc in _on_path("rustc"):
        try:
            return _complete(rustc)
        except ToolchainError as error:
            problems.append(str(error))
    raise ToolchainError("; ".join(problems) or "no rustc is on the PATH")


def _complete(rustc: Path) -> RustToolchain:
    """The toolchain of a rustc, if its sysroot holds all that is needed."""
    release = _release(_query(rustc, "-vV"), rustc)
    sysroot = Path(_query(rustc, "--print", "sysroot").strip())
    if not any(_target_libraries(sysroot).glob("libstd-*.rlib")):
        raise ToolchainError(f"{rustc} has no standard library for {TARGET}")
    # The compiler itself, past rustup's proxy: what was found is then what compiles, in whichever folder.
    rustc = next(_programs(sysroot / "bin" / "rustc"), rustc)
    cargo = next(_programs(sysroot / "bin" / "cargo"), None) or next(_on_path("cargo"), None)
    if cargo is None:
        raise ToolchainError(f"{rustc} stands without a cargo")
    return _toolchain(cargo, rustc, sysroot, release)


def _toolchain(cargo: Path, rustc: Path, sysroot: Path, release: str) -> RustToolchain:
    bundled = sysroot / "lib" / "rustlib" / _host(rustc) / "bin" / "rust-lld"
    environment = {"RUSTC": str(rustc)}
    if bundled.is_file():
        linker, linked = bundled, "rust-lld"
    else:
        linker = _wasm_ld()
        environment[f"CARGO_TARGET_{TARGET.upper().replace('-', '_')}_LINKER"] = str(linker)
        linked = _query(linker, "--version").strip()
    tools = release, _query(cargo, "-V").strip(), linked
    return RustToolchain(cargo, rustc, linker, sysroot, ", ".join(tools), environment)


def _wasm_ld() -> Path:
    """LLVM's linker for wasm, the newest where there are several."""
    names: dict[int, Path] = {}
    for folder in _path_folders():
        for path in folder.glob("wasm-ld*"):
            if match := re.fullmatch(r"wasm-ld(?:-(\d+))?", path.name):
                names.setdefault(int(match[1] or 0), path)
    if not names:
        raise ToolchainError(f"there is no linker for {TARGET}: neither rust-lld nor wasm-ld is installed")
    return names[max(names)]


# ---- 2. rustup ---------------------------------------------------------------------------------------------------


def _rustup(say: Say) -> RustToolchain:
    rustup = next(_on_path("rustup"), None)
    if rustup is None:
        raise ToolchainError("rustup is not installed")
    say(f"adding the target {TARGET} to rustup's toolchain (rustup target add {TARGET})")
    try:
        done = _run([str(rustup), "target", "add", TARGET], _RUSTUP_SECONDS)
    except subprocess.TimeoutExpired:
        raise ToolchainError(f"rustup could not fetch {TARGET} within {_RUSTUP_SECONDS} s") from None
    if done.returncode:
        raise ToolchainError(f"rustup could not add {TARGET}: {_last_line(done.stderr)}")
    return _installed()


# ---- 3. Debian ---------------------------------------------------------------------------------------------------


def _debian(folder: Path, say: Say) -> RustToolchain:
    rustc, cargo = _DEBIAN_PREFIX / "bin" / "rustc", _DEBIAN_PREFIX / "bin" / "cargo"
    library = _DEBIAN_PREFIX / "lib" / "rustlib" / "src" / "rust" / "library"
    if not (rustc.is_file() and cargo.is_file() and (library / "std").is_dir() and (library / "vendor").is_dir()):
        _install_packages(say)
    if not (library / "std").is_dir():
        raise ToolchainError(f"there are no sources of the standard library at {library}")
    release = _release(_query(rustc, "-vV"), rustc)
    sysroot = folder / "-".join(re.findall(r"[0-9A-Za-z.]+", release)[:3])
    wrapper = sysroot / "bin" / "rustc"
    if not wrapper.is_file():
        say(f"building the standard library for {TARGET} from Debian's sources into {sysroot} (once, about a minute)")
        _build_sysroot(sysroot, rustc, cargo, library)
    return _toolchain(cargo, wrapper, sysroot, release)


def _install_packages(say: Say) -> None:
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *DEBIAN_PACKAGES]
    if shutil.which("apt-get") is None:
        raise ToolchainError("this is not Debian: there is no apt-get")
    if os.geteuid() != 0:
        raise ToolchainError(f"packages are missing; run `sudo {shlex.join(command)}`")
    say(f"installing Debian packages: {shlex.join(command)}")
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = _run(command, _APT_SECONDS, environment)
        if done.returncode:
            _run(["apt-get", "update"], _APT_SECONDS, environment)
            done = _run(command, _APT_SECONDS, environment)
    except subprocess.TimeoutExpired:
        raise ToolchainError(f"`{shlex.join(command)}` did not end within {_APT_SECONDS} s") from None
    if done.returncode:
        raise ToolchainError(f"`{shlex.join(command)}` failed: {_last_line(done.stderr)}")


def _build_sysroot(sysroot: Path, rustc: Path, cargo: Path, library: Path) -> None:
    """Build the target's standard library, and put it into place in one move: there is never half a sysroot."""
    sysroot.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=sysroot.parent) as temporary:
        work, made = Path(temporary), Path(temporary) / "sysroot"
        (work / "src").mkdir()
        (work / "src" / "lib.rs").write_text("#![no_std]\n")
        (work / "Cargo.toml").write_text(
            '[package]\nname = "seed"\nversion = "0.0.0"\nedition = "2021"\n'
            '[profile.release]\nlto = false\npanic = "abort"\n'
        )
        command = [
            *(str(cargo), "build", "--quiet", "--offline", "--release", "--target", TARGET),
            *("--config", 'source.crates-io.replace-with="debian"'),
            *("--config", f'source.debian.directory="{library / "vendor"}"'),
            *("--target-dir", str(work / "target"), "-Zbuild-std=std,panic_abort"),
        ]
        environment = {"RUSTC_BOOTSTRAP": "1", "RUSTC": str(rustc), "CARGO_ENCODED_RUSTFLAGS": "-Cembed-bitcode=yes"}
        try:
            done = _run(command, _STD_SECONDS, environment, work)
        except subprocess.TimeoutExpired:
            raise ToolchainError(f"the standard library was not built within {_STD_SECONDS} s") from None
        if done.returncode:
            raise ToolchainError(f"the standard library does not build: {_last_line(done.stderr)}")
        _assemble(made, work / "target" / TARGET / "release" / "deps", rustc)
        try:
            made.rename(sysroot)
        except OSError:
            # Someone else was quicker; what they made is the same.
            if not (sysroot / "bin" / "rustc").is_file():
                raise


def _assemble(sysroot: Path, built: Path, rustc: Path) -> None:
    libraries = _target_libraries(sysroot)
    libraries.mkdir(parents=True)
    for rlib in sorted(built.glob("*.rlib")):
        if not rlib.name.startswith("libseed-"):
            shutil.copyfile(rlib, libraries / rlib.name)
    # Build scripts and macros are compiled for the host, whose library is where it was.
    host = _host(rustc)
    (sysroot / "lib" / "rustlib" / host).symlink_to(_DEBIAN_PREFIX / "lib" / "rustlib" / host)
    wrapper = sysroot / "bin" / "rustc"
    wrapper.parent.mkdir()
    # As a wrapper, and not as a flag, the sysroot's place stays out of what cargo mixes into symbol names.
    wrapper.write_text(
        "#!/bin/sh\n"
        'here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)\n'
        f'exec {shlex.quote(str(rustc))} --sysroot "$here" "$@"\n'
    )
    wrapper.chmod(0o755)


# ---- small things ------------------------------------------------------------------------------------------------


def _target_libraries(sysroot: Path) -> Path:
    return sysroot / "lib" / "rustlib" / TARGET / "lib"


def _release(verbose: str, rustc: Path) -> str:
    """The first line of `rustc -vV`. Raises `ToolchainError` for one older than `OLDEST`."""
    first = verbose.partition("\n")[0].strip()
    match = re.match(r"rustc (\d+)\.(\d+)", first)
    if match is None:
        raise ToolchainError(f"{rustc} does not say which version it is")
    if (int(match[1]), int(match[2])) < OLDEST:
        raise ToolchainError(f"{rustc} is {match[1]}.{match[2]}; at least {_dotted(OLDEST)} is needed")
    return first


def _host(rustc: Path) -> str:
    match = re.search(r"^host: (\S+)$", _query(rustc, "-vV"), re.MULTILINE)
    return match[1] if match else f"{platform.machine()}-unknown-linux-gnu"


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _path_folders() -> Iterator[Path]:
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if entry:
            yield Path(entry)
    yield Path.home() / ".cargo" / "bin"


def _on_path(name: str) -> Iterator[Path]:
    """Every program of that name, in the order of the PATH, then in rustup's folder."""
    return _programs(*(folder / name for folder in _path_folders()))


def _programs(*paths: Path) -> Iterator[Path]:
    return (path for path in dict.fromkeys(paths) if path.is_file() and os.access(path, os.X_OK))


def _query(program: Path, *arguments: str) -> str:
    try:
        done = _run([str(program), *arguments], 60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolchainError(f"{program} cannot be run: {error}") from None
    if done.returncode:
        raise ToolchainError(f"`{program} {shlex.join(arguments)}` failed: {_last_line(done.stderr)}")
    return done.stdout


def _run(
    command: list[str], seconds: float, extra: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **(extra or {})}
    return subprocess.run(
        command,
        env=environment,
        cwd=cwd,
        timeout=seconds,
        capture_output=True,
        text=True,
        check=False,
        errors="replace",
    )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"


def _to_stderr(line: str) -> None:
    print(f"rust toolchain: {line}", file=sys.stderr, flush=True)  # noqa: T201


def _main() -> int:
    parser = argparse.ArgumentParser(description=f"Find or make a Rust toolchain that compiles for {TARGET}.")
    parser.add_argument("--print-env", action="store_true", help="print it as shell exports")
    parser.add_argument(
        "--source", type=Source, choices=list(Source), default=Source.AUTO, help="where from (default: auto)"
    )
    parser.add_argument("--folder", type=Path, default=default_folder(), help="where a standard library is built")
    options = parser.parse_args()
    try:
        toolchain = find(options.folder, source=options.source)
    except ToolchainError as error:
        _to_stderr(str(error))
        return 1
    lines = [f"# {toolchain.description}"] if options.print_env else [toolchain.description]
    if options.print_env:
        variables = {"CARGO": str(toolchain.cargo), **toolchain.environment}
        lines += [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    print("\n".join(lines))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(_main())
