"""Config files and locks: where they are, what they say, and what all layers say together."""

from .files import FOLDER, LayerFile, Places, find_project
from .layers import LoadedConfig, Source, load_config
from .lock import Comparison, Lock, LockEntry, compare, drop_entry, put_entry, read_lock
from .model import (
    KEYS,
    Audit,
    Budget,
    Config,
    Context,
    Deadlines,
    Extension,
    Layer,
    Limits,
    Log,
    Memory,
    Policy,
    Provider,
    Tools,
)

__all__ = [
    "FOLDER",
    "KEYS",
    "Audit",
    "Budget",
    "Comparison",
    "Config",
    "Context",
    "Deadlines",
    "Extension",
    "Layer",
    "LayerFile",
    "Limits",
    "LoadedConfig",
    "Lock",
    "LockEntry",
    "Log",
    "Memory",
    "Places",
    "Policy",
    "Provider",
    "Source",
    "Tools",
    "compare",
    "drop_entry",
    "find_project",
    "load_config",
    "put_entry",
    "read_lock",
]
