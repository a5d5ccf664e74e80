"""The references are complete, and every example in them loads."""

import json
import re
from pathlib import Path

import pytest

from orrery_interceptors.config import Config, LoadedConfig, Places, load_config, read_lock
from orrery_interceptors.config.lock import LockEntry
from orrery_interceptors.config.model import ExtensionEntry
from orrery_interceptors.manifest import About, AskedLimits, Requires, read_manifest
from orrery_interceptors.rules import Default, Refuse
from orrery_interceptors.validation import keys_of

DOCS = Path(__file__).parents[2] / "docs"
CONFIG = (DOCS / "config.md").read_text("utf-8")
MANIFEST = (DOCS / "manifest.md").read_text("utf-8")
MINIMAL = '[extension]\napi = "orrery-ext/1"\nname = "a"\nversion = "1.0.0"\nruntime = "wasm"\ncomponent = "a.wasm"\n'


def blocks(text: str) -> list[str]:
    found = re.findall(r"^```toml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(found) == text.count("```toml")
    return found


@pytest.mark.parametrize("block", blocks(MANIFEST))
def test_every_example_of_a_manifest_loads(tmp_path: Path, block: str) -> None:
    text = block if "[extension]" in block else MINIMAL + block
    (tmp_path / "orrery.toml").write_text(text, "utf-8")
    read_manifest(tmp_path)


def load(folder: Path, block: str) -> LoadedConfig:
    project = folder / "project"
    managed = folder / "managed.toml"
    (project / ".orrery").mkdir(parents=True)
    path = managed if block.startswith("# /etc/orrery/config.toml") else project / ".orrery" / "config.toml"
    path.write_text(block, "utf-8")
    return load_config(project, Places(folder / "no-user.toml", folder / "no-org.toml", managed))


@pytest.mark.parametrize("block", blocks(CONFIG))
def test_every_example_of_a_config_or_lock_loads(tmp_path: Path, block: str) -> None:
    if block.startswith("# .orrery/lock.toml"):
        path = tmp_path / "lock.toml"
        path.write_text(block, "utf-8")
        assert read_lock(path).entries
    else:
        loaded = load(tmp_path, block)
        assert loaded.files
        assert not loaded.warnings


def test_every_key_of_the_config_is_described_with_its_default() -> None:
    described = dict(re.findall(r"^\| `(\w+\.\w+)` \| ([^|]+) \|", CONFIG, re.MULTILINE))
    assert described == {
        key: "not set" if value is None else f"`{json.dumps(value)}`" for key, value in Config().values().items()
    }


def test_every_key_of_extensions_and_of_the_lock_is_described() -> None:
    for key, info in keys_of(ExtensionEntry).items():
        default = "required" if info.is_required() else f"`{json.dumps(info.get_default(call_default_factory=True))}`"
        assert f"| `{key}` | {default} |" in CONFIG
    lock = CONFIG.split("## The lock")[1]
    for key in keys_of(LockEntry):
        assert f"`{key}`" in lock


def test_every_key_of_the_manifest_is_described() -> None:
    for model in (About, Requires, AskedLimits):
        for key in keys_of(model):
            assert f"\n| `{key}` |" in MANIFEST
    for rule in (Refuse, Default):
        for key in keys_of(rule):
            assert f"| `{key}` |" in MANIFEST
