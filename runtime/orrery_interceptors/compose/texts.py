"""A payload as it is given to guests: its fields' texts, each written once and again only where it changed."""

from __future__ import annotations

from collections.abc import Mapping

from ..jsontext import MAX_DEPTH, Json, JsonError, dumps
from ..points import SPECS, Kind, Point

Field = bytes | int | None
"""A field: UTF-8 text (JSON, but for a field that is plain text), or a count that may be missing."""


class Texts:
    """The fields of one payload in the order of the contract, and their size in bytes."""

    __slots__ = ("fields", "size")

    def __init__(self, fields: tuple[Field, ...]) -> None:
        self.fields = fields
        size = 0
        for field in fields:
            if isinstance(field, bytes):
                size += len(field)
        self.size = size

    @classmethod
    def of(cls, point: Point, payload: Mapping[str, Json]) -> Texts:
        """Write all fields. Raises `JsonError`, its pointer from the payload's root, where one has no text."""
        return cls(tuple([_field(name, kind, payload.get(name)) for name, kind in SPECS[point].fields.items()]))

    def changed(self, point: Point, payload: Mapping[str, Json], name: str) -> Texts:
        """The same with one field written anew. Raises `JsonError` as `of` does."""
        return Texts(
            tuple(
                _field(name, kind, payload.get(name)) if field == name else old
                for (field, kind), old in zip(SPECS[point].fields.items(), self.fields, strict=True)
            )
        )


def _field(name: str, kind: Kind, value: Json) -> Field:
    if kind is Kind.COUNT:
        return int(value) if value is not None else None
    try:
        text: str = value if kind is Kind.TEXT else dumps(value, MAX_DEPTH - 1)
        return text.encode()
    except UnicodeEncodeError:
        raise JsonError("a lone surrogate, which no UTF-8 text can carry", pointer=f"/{name}") from None
    except JsonError as error:
        raise JsonError(error.what, pointer=f"/{name}{error.pointer or ''}") from None
