"""Texts that strangers wrote and that people and models will read, made safe to show.

Denial reasons reach a model and a terminal. Control characters could move the cursor, bidirectional marks could show a
sentence backwards, and characters of no width could hide words; none of them survives.
"""

from __future__ import annotations

import unicodedata

from .points import Point
from .verdicts import Failure

MAX_REASON_BYTES = 1024

# Format characters (Cf) carry the bidi controls, zero-width joiners, tags and soft hyphens. Private use and surrogates
# have no meaning that a reader could share.
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# Not in Cf, yet without ink: fillers, variation selectors and the combining grapheme joiner.
_INKLESS = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
)


def clean(text: str) -> str:
    """The text on one line, without control, bidirectional and invisible characters."""
    if text.isascii() and text.isprintable():
        return text.strip()
    kept = []
    for char in text:
        category = unicodedata.category(char)
        if char in "\n\r\t\v\f\x85\u2028\u2029" or category == "Zs":
            kept.append(" ")
        elif category not in _DROPPED and ord(char) not in _INKLESS:
            kept.append(char)
    return "".join(kept).strip()


def cut(text: str, limit: int = MAX_REASON_BYTES) -> str:
    """The text cut to `limit` bytes of UTF-8, an ellipsis included, never within a character."""
    if len(text) * 4 <= limit or len(data := text.encode("utf-8", "replace")) <= limit:
        return text
    return data[: limit - 3].decode("utf-8", "ignore").rstrip() + "…"


def denial(interceptor: str, point: Point, extension: str, text: str) -> str:
    """The reason of a denial: who said it, then what, cleaned and cut. Never empty."""
    return cut(f"{interceptor} ({point}, extension {extension}): {clean(text) or 'denied, no reason given'}")


def failure(interceptor: str, point: Point, extension: str, why: Failure) -> str:
    """The sentence for an interceptor that did not answer."""
    return cut(f"{interceptor} ({point}, extension {extension}): {clean(why.detail)}")


def rule(extension: str, point: Point, text: str) -> str:
    """The reason of a `refuse` rule."""
    return cut(f"rule ({point}, extension {extension}): {clean(text) or 'refused, no reason given'}")
