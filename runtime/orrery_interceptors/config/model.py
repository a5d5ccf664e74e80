"""Every key of the config files, with its default and its bounds."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from ..fields import PathText, Patterns, Url, Variable
from ..jsontext import Json
from ..validation import FieldError, Strict, closest, keys_of, model_within


class Layer(StrEnum):
    """Where a key or an extension was declared, closest first."""

    PROJECT = "project"
    WORKSPACE = "workspace"
    USER = "user"
    ORG = "org"
    MANAGED = "managed"


def _file_key(name: str) -> str:
    return re.sub("([KM])ib$", r"\1iB", to_camel(name))


class Table(Strict):
    """The base of the tables. Python names are snake_case, those of the files camelCase."""

    model_config = ConfigDict(alias_generator=_file_key, validate_by_name=True, validate_by_alias=True)


class Deadlines(Table):
    """Wall clock, in milliseconds, for one gate, one rewrite and one `register`."""

    gate_ms: int = Field(default=250, ge=1, le=600_000)
    rewrite_ms: int = Field(default=250, ge=1, le=600_000)
    register_ms: int = Field(default=1000, ge=1, le=600_000)


class Limits(Table):
    """What one call of an extension may use, and what compiling one may take."""

    fuel: int = Field(default=1_000_000_000, ge=1, le=10**15)
    memory_mib: int = Field(default=64, ge=1, le=4096)
    output_kib: int = Field(default=1024, ge=1, le=1_048_576)
    payload_kib: int = Field(default=8192, ge=1, le=1_048_576)
    interceptors_per_phase: int = Field(default=8, ge=1, le=1024)
    in_flight: int = Field(default=16, ge=1, le=1024)
    log_lines: int = Field(default=64, ge=0, le=100_000)
    compile_seconds: int = Field(default=60, ge=1, le=3600)
    compile_mib: int = Field(default=2048, ge=64, le=1_048_576)


class Audit(Table):
    """Where the audit is kept, relative to the project, and how often it is forced to the disk."""

    path: PathText = ".orrery/audit.jsonl"
    sync: Literal["batch", "decision"] = "batch"


class Policy(Table):
    """The host's own check of tools, after `tool.before`. `deny` wins over `allow`, `allow` over `default`."""

    default: Literal["allow", "deny"] = "allow"
    allow: Patterns = ()
    deny: Patterns = ()


class Provider(Table):
    """The model's endpoint. The API key is read from the environment variable `api_key_env`, never from a file."""

    kind: Literal["scripted", "openai"] = "scripted"
    base_url: Url | None = None
    model: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    api_key_env: Variable = "OPENAI_API_KEY"
    stream: bool = False
    timeout_seconds: float = Field(default=120.0, ge=0.1, le=3600)
    options: dict[str, Any] = Field(default_factory=dict)


class Memory(Table):
    """Where memory is kept, relative to the project, and how many entries a turn recalls."""

    path: PathText = ".orrery/memory.sqlite"
    recall_limit: int = Field(default=8, ge=0, le=1000)


class Tools(Table):
    """What the built-in tools may take, and the environment variables that a command is given."""

    timeout_ms: int = Field(default=60_000, ge=1, le=86_400_000)
    output_kib: int = Field(default=256, ge=1, le=1_048_576)
    env: Annotated[tuple[Variable, ...], Field(strict=False)] = (
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "TERM",
        "TZ",
        "TMPDIR",
    )


class Context(Table):
    """How many tokens the context may take; None: as many as the model takes."""

    budget_tokens: int | None = Field(default=None, ge=1, le=10**9)


class Budget(Table):
    """When a run stops: passes in one turn; tool calls, seconds and tokens in the whole run. None: no bound."""

    passes: int = Field(default=50, ge=1, le=1_000_000)
    calls: int = Field(default=200, ge=0, le=1_000_000)
    seconds: float | None = Field(default=None, ge=0.001, le=31_536_000)
    tokens: int | None = Field(default=None, ge=1, le=10**12)


class Log(Table):
    """The least level that is shown."""

    level: Literal["debug", "info", "warn", "error"] = "info"


class Tables(Table):
    """The tables that every layer may set."""

    deadlines: Deadlines = Deadlines()
    limits: Limits = Limits()
    audit: Audit = Audit()
    policy: Policy = Policy()
    provider: Provider = Provider()
    memory: Memory = Memory()
    tools: Tools = Tools()
    context: Context = Context()
    budget: Budget = Budget()
    log: Log = Log()


def _all_keys() -> tuple[str, ...]:
    return tuple(
        f"{table}.{key}"
        for table, info in keys_of(Tables).items()
        if (model := model_within(info.annotation))
        for key in keys_of(model)
    )


KEYS = _all_keys()
"""Every key that a layer may set, extensions aside, as `table.key`."""

EXTENSIONS = "extensions"


def _check_lock(key: str) -> str:
    known = (*KEYS, *keys_of(Tables), EXTENSIONS)
    if key not in known:
        meant = closest(key, known)
        fix = f"did you mean {meant}?" if meant else 'name a key such as "limits.fuel", or a table such as "policy"'
        raise FieldError("there is no such key to lock", fix)
    return key


class ExtensionEntry(Table):
    """One `[[extensions]]` of a file, as it stands there."""

    path: PathText = Field(examples=['"extensions/acme-guard"'])
    optional: bool = False
    enabled: bool = True
    settings: dict[str, Any] = Field(default_factory=dict)


class ConfigFile(Tables):
    """One config file."""

    extensions: Annotated[tuple[ExtensionEntry, ...], Field(strict=False)] = ()
    workspace: bool = False
    locked: Annotated[tuple[Annotated[str, AfterValidator(_check_lock)], ...], Field(strict=False)] = ()


class Extension(Table):
    """A declared extension. `path` is its folder, absolute; `declared` is how the file writes it.

    `layer`, `file` and `line` say where it was declared. An extension that is not `enabled` stands in the list and is
    not to be loaded.
    """

    path: Path
    declared: str
    optional: bool
    enabled: bool
    settings: dict[str, Json]
    layer: Layer
    file: Path
    line: int | None

    @property
    def lock_file(self) -> Path:
        """The lock that says what the user agreed to: beside the file that declares the extension."""
        return self.file.with_name("lock.toml")


class Config(Tables):
    """All layers in one: the value of every key, and the extensions of all layers, closest layer first."""

    extensions: tuple[Extension, ...] = ()

    def values(self) -> dict[str, Json]:
        """The value of each key, as `table.key`, extensions aside."""
        tables = self.model_dump(mode="json", by_alias=True, exclude={"extensions"})
        return {f"{table}.{key}": value for table, keys in tables.items() for key, value in keys.items()}
