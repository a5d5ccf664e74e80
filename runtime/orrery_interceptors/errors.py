"""What can go wrong, as types.

::

    OrreryError
    ├── InputError           something that was given is wrong; carries every problem found
    │   ├── ManifestError    an extension's orrery.toml
    │   ├── ConfigError      a config or lock file
    │   ├── SessionError     a session file
    │   └── PayloadError     a payload, a site or an outcome
    ├── LoadError            extensions that were asked for by name cannot be loaded
    ├── AuditError           the audit cannot be read, written or trusted
    └── ProviderError        the model's endpoint could not be asked, or answered what is no answer

Interceptors that fail raise nothing: a failure has a kind (`FailureKind`) and is part of the decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it is, and what to do about it.

    `file` is a path or a name such as `standard input`; `line` counts from 1; `key` names a key of a document
    (`requires.intercept`) or points into it (`/input/n`).
    """

    what: str
    file: str | Path | None = None
    line: int | None = None
    key: str | None = None
    fix: str | None = None

    def __str__(self) -> str:
        where = "" if self.file is None else str(self.file)
        if self.line is not None:
            where += f":{self.line}" if where else f"line {self.line}"
        if self.key:
            where += f" [{self.key}]" if where else self.key
        text = f"{where}: {self.what}" if where else self.what
        return f"{text} ({self.fix})" if self.fix else text

    def to_json(self) -> dict[str, object]:
        """The problem as a JSON object, for `--json`."""
        return {
            "what": self.what,
            "file": None if self.file is None else str(self.file),
            "line": self.line,
            "key": self.key,
            "fix": self.fix,
        }


class OrreryError(Exception):
    """The root of all errors raised on purpose."""


class InputError(OrreryError):
    """Something that was given is wrong. `problems` has all of it, in order of appearance."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class ManifestError(InputError):
    """An extension's manifest is wrong."""


class ConfigError(InputError):
    """A config file or a lock is wrong."""


class SessionError(InputError):
    """A session file is wrong."""


class PayloadError(InputError):
    """A payload, a site or an outcome has not the shape that its point asks for."""


class LoadError(InputError):
    """Extensions that were asked for by name cannot be loaded."""


class AuditError(OrreryError):
    """The audit cannot be read, written or trusted.

    `record` is the number of the record concerned, counted from 1, where there is one.
    """

    def __init__(self, message: str, record: int | None = None) -> None:
        super().__init__(message)
        self.record = record


class ProviderError(OrreryError):
    """The model's endpoint could not be asked, or what it answered is no answer.

    `status` is the HTTP status, where there was one.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
