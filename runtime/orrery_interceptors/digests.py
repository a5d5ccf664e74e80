"""Digests: SHA-256, written `sha256:<64 hex digits>`, over bytes or over deterministic CBOR (RFC 8949 section 4.2)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import cbor2

from .jsontext import Json, dumps


def deterministic(value: Json) -> bytes:
    """The value's deterministic encoding: shortest forms, members sorted by their encoded names.

    Two JSON values have the same encoding exactly when they are the same, the order of members aside; 1 and 1.0 are
    not the same. Raises `JsonError` for what is no JSON value.
    """
    # CBOR knows more values than JSON, NaN among them, and says less about what is wrong.
    dumps(value)
    return cbor2.dumps(value, canonical=True)


def payload_digest(value: Json) -> str:
    """The digest of a JSON value. Raises `JsonError` for what is no JSON value."""
    return _digest(deterministic(value))


def extension_digest(manifest: bytes, component: bytes | None) -> str:
    """The digest that stands for an extension: over its manifest's bytes and its component's, if it has one.

    It is taken over the map `{"component": <SHA-256 of the component, or null>, "manifest": <SHA-256>}`, so that no
    byte can move from one file to the other.
    """
    parts = {
        "component": None if component is None else hashlib.sha256(component).digest(),
        "manifest": hashlib.sha256(manifest).digest(),
    }
    return _digest(cbor2.dumps(parts, canonical=True))


def file_digest(path: Path) -> str:
    """The digest of a file's bytes. Raises `OSError` when it cannot be read."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
