"""Types of the fields that people write in manifests, rules, config files and locks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from .patterns import MAX_PATTERN, Scope, parse_scope, pattern_problem
from .validation import FieldError, kind_of

MAX_ITEMS = 1024
"""How many patterns, scopes or rules one array may hold."""

_MAX_SCOPE = MAX_PATTERN + 32
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NAME = re.compile("[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = "(?:0|[1-9][0-9]*)"
_PRERELEASE = "(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(?:-{_PRERELEASE}(?:\.{_PRERELEASE})*)?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)


def _check_count(value: Any) -> Any:
    """Before the items are looked at, which could be very many."""
    if isinstance(value, (list, tuple)) and len(value) > MAX_ITEMS:
        raise FieldError(f"must have at most {MAX_ITEMS} items, not {len(value)}")
    return value


def _check_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise FieldError(
            "must be 1 to 64 lower-case letters, digits and hyphens, no hyphen first or last",
            'for example "acme-guard"',
        )
    return text


def _check_version(text: str) -> str:
    if len(text) > 128 or not _SEMVER.fullmatch(text):
        raise FieldError("must be a semantic version", 'three numbers, for example "1.2.0" or "2.0.0-rc.1"')
    return text


def _check_pattern(text: str) -> str:
    if problem := pattern_problem(text):
        raise FieldError(problem, 'write a tool name such as "builtin.bash"; * stands for any run of characters')
    return text


def _scope(value: Any) -> Scope:
    if isinstance(value, Scope):
        return value
    if not isinstance(value, str):
        raise FieldError(f'must be a string such as "tool.before:builtin.bash", not {kind_of(value, "a table")}')
    if len(value) > _MAX_SCOPE:
        raise FieldError(f"a scope has at most {_MAX_SCOPE} characters, this one {len(value)}")
    try:
        return parse_scope(value)
    except ValueError as error:
        raise FieldError(str(error)) from None


def _check_variable(text: str) -> str:
    if not _VARIABLE.fullmatch(text):
        raise FieldError("must be the name of an environment variable, such as PATH")
    return text


def _check_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine or " " in text or not text.isprintable():
        raise FieldError("must be a URL that starts with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise FieldError("must not hold a user name or a password", "keep secrets in an environment variable")
    return text


def _check_path(text: str) -> str:
    if not text.strip() or _CONTROL.search(text):
        raise FieldError("must be a path: not empty, and without control characters")
    try:
        Path(text).expanduser()
    except RuntimeError:
        raise FieldError("starts with ~, and there is no such home folder", "write the whole path") from None
    return text


def absolute(path: str, base: Path) -> Path:
    """A path as it was written, made absolute: relative to `base`, or to a home folder where it starts with `~`."""
    return base / Path(path).expanduser()


Name = Annotated[str, AfterValidator(_check_name)]
"""An extension's name."""

Version = Annotated[str, AfterValidator(_check_version)]
"""A semantic version (2.0.0 of that specification)."""

Pattern = Annotated[str, AfterValidator(_check_pattern)]
"""A tool pattern; see `patterns`."""

Patterns = Annotated[tuple[Pattern, ...], Field(strict=False), BeforeValidator(_check_count)]
"""Tool patterns, written as an array."""

Scopes = Annotated[
    tuple[Annotated[Scope, BeforeValidator(_scope)], ...],
    Field(strict=False),
    BeforeValidator(_check_count),
    AfterValidator(lambda scopes: tuple(dict.fromkeys(scopes))),
]
"""Scopes, each written `point` or `point:tool-pattern`. What stands twice is kept once."""

Variable = Annotated[str, AfterValidator(_check_variable)]
"""The name of an environment variable."""

Url = Annotated[str, Field(max_length=2048), AfterValidator(_check_url)]
"""An http(s) URL without credentials."""

PathText = Annotated[str, Field(max_length=4096), AfterValidator(_check_path)]
"""A path as it was written: absolute, relative, or from `~`. See `absolute`."""
