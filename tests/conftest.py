"""What tests share: the probe as an extension, and runtimes around it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

from guests.build import guest
from orrery_interceptors import Config, Runtime
from orrery_interceptors.config import Layer
from orrery_interceptors.registry import Declared, load_registry
from orrery_interceptors.sandbox import CodeCache, CompileLimits, Marshalling, Sandbox

ROOT = Path(__file__).resolve().parents[1]
POINTS = ("tool.before", "tool.after", "context.build", "memory.recall", "provider.before")
CODE = ROOT / "tests" / "guests" / ".build" / "code"


@pytest.fixture(scope="session", autouse=True)
def private_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Commands find no config of whoever runs the tests, and leave nothing in their home."""
    home = tmp_path_factory.mktemp("home")
    CODE.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = {"XDG_CONFIG_HOME": home / "config", "XDG_CACHE_HOME": CODE, "XDG_CONFIG_DIRS": home / "org"}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: str(path) for name, path in names.items()})
    yield
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The probe as an extension that declares everything."""
    folder = tmp_path_factory.mktemp("probe")
    shutil.copy(guest("probe"), folder / "probe.wasm")
    scopes = ", ".join(f'"{point}"' for point in POINTS)
    write_manifest(folder, "probe", f"intercept = [{scopes}]\nwatch = [{scopes}]")
    return folder


def write_manifest(folder: Path, name: str, requires: str, rest: str = "", component: str = "probe.wasm") -> None:
    folder.mkdir(exist_ok=True)
    (folder / "orrery.toml").write_text(
        f'[extension]\napi = "orrery-ext/1"\nname = "{name}"\nversion = "1.0.0"\nruntime = "wasm"\n'
        f'component = "{component}"\n\n[requires]\n{requires}\n\n{rest}',
        encoding="utf-8",
    )


def interceptor(name: str = "x", point: str = "tool.before", mode: str = "rewrite", **more: Any) -> dict[str, Any]:
    return {"name": name, "point": point, "mode": mode, **more}


class Probes(Protocol):
    """Makes a runtime of probes: each is the interceptors it registers and what they do."""

    def __call__(
        self,
        *extensions: tuple[list[dict[str, Any]], Mapping[str, Any]],
        config: Config | None = None,
        marshalling: Marshalling | None = None,
        **options: Any,
    ) -> Runtime: ...


@pytest.fixture
def probes(probe: Path, tmp_path: Path) -> Iterator[Probes]:
    made: list[Runtime] = []

    def make(
        *extensions: tuple[list[dict[str, Any]], Mapping[str, Any]],
        config: Config | None = None,
        marshalling: Marshalling | None = None,
        **options: Any,
    ) -> Runtime:
        config = config or Config()
        sandbox = Sandbox(cache=CodeCache(CODE / "probe"), compiling=CompileLimits(60, 2048), marshalling=marshalling)
        declared = []
        for index, (interceptors, actions) in enumerate(extensions):
            folder = probe
            if len(extensions) > 1:
                folder = tmp_path / f"probe-{index}"
                if not folder.exists():
                    shutil.copytree(probe, folder)
                    manifest = (folder / "orrery.toml").read_text()
                    (folder / "orrery.toml").write_text(manifest.replace('"probe"', f'"probe-{index}"', 1))
            more = {key: value for key, value in actions.items() if key.startswith("$")}
            settings = {
                "register": {"interceptors": interceptors, "rules": more.get("$rules", [])},
                "do": {key: value for key, value in actions.items() if not key.startswith("$")},
            }
            declared.append(Declared(folder, more.get("$layer", Layer.PROJECT), settings, trusted=True))
        registry = load_registry(declared, config, sandbox)
        runtime = Runtime(registry, sandbox, config=config, **options)
        made.append(runtime)
        return runtime

    yield make
    for runtime in made:
        runtime.close()


@pytest.fixture
def orrery() -> Callable[..., Any]:
    """Runs a command in this process: exit code, standard output, standard error."""
    from click.testing import CliRunner

    from orrery_interceptors.cli import group

    def run(*arguments: str | Path, input: str | bytes | None = None) -> Any:
        return CliRunner().invoke(group, [str(argument) for argument in arguments], input=input)

    return run


PAYLOADS: dict[str, dict[str, Any]] = {
    "tool.before": {"tool": "t", "input": {"n": 9007199254740993}},
    "tool.after": {"tool": "t", "input": {}, "outcome": {"t": "ok", "value": {"n": 9007199254740993}}},
    "context.build": {
        "sections": [{"id": "s", "text": "x"}],
        "recalled": [{"id": "m", "text": "y"}],
        "messages": [{"role": "user", "content": "hi"}],
    },
    "memory.recall": {"query": "q", "entries": [{"id": "a", "text": "1"}, {"id": "b", "text": "2"}]},
    "provider.before": {"model": "m", "options": {"max_tokens": 5}},
}
