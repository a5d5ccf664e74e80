"""The guests that are measured: the smallest sample gate in Rust, and gates of a known amount of work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from orrery_interceptors import Config, Runtime
from orrery_interceptors.audit import AuditWriter
from orrery_interceptors.config import Layer
from orrery_interceptors.registry import Declared, load_registry
from orrery_interceptors.sandbox import CodeCache, CompileLimits, Sandbox, default_folder

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]
SCOPES = '"tool.before", "tool.after", "context.build", "memory.recall", "provider.before"'


def small(folder: Path, name: str = "small") -> Path:
    """An extension with the smallest gate that the Rust SDK makes (tests/guests/small)."""
    from guests.build import guest

    return extension(folder, name, guest("small").read_bytes())


def extension(folder: Path, name: str, component: bytes) -> Path:
    """A folder with a component and a manifest that declares every point."""
    folder = folder / name
    folder.mkdir(exist_ok=True)
    (folder / "orrery.toml").write_text(
        f'[extension]\napi = "orrery-ext/1"\nname = "{name}"\nversion = "1.0.0"\nruntime = "wasm"\n'
        f'component = "guest.wasm"\n\n[requires]\nintercept = [{SCOPES}]\n'
    )
    (folder / "guest.wasm").write_bytes(component)
    return folder


def runtime(*declared: Declared, audit: Path | None = None, config: dict[str, Any] | None = None) -> Runtime:
    """A runtime of these, with an audit where a file is named."""
    made = Config.model_validate({"limits": {"interceptorsPerPhase": 1024}, **(config or {})})
    sandbox = Sandbox(cache=CodeCache(default_folder()), compiling=CompileLimits(60, 2048))
    writer = AuditWriter(audit) if audit else None
    return Runtime(load_registry(declared, made, sandbox), sandbox, config=made, audit=writer)


def declared(folder: Path, **settings: Any) -> Declared:
    """A folder with settings."""
    return Declared(folder, Layer.PROJECT, settings, trusted=True)
