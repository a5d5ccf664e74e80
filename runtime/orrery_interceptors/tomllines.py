"""On which line each value of a TOML text stands.

The standard library's reader gives values without places. This one walks a text that the reader has accepted and notes
where each key, table, array element and member begins (TOML 1.0). It is used for messages only.
"""

from __future__ import annotations

import bisect
import contextlib
import re
import tomllib

Loc = tuple[str | int, ...]
"""Where a value stands in its document: member names and indices from the root."""

_BASIC = r'"(?:[^"\\\n]|\\.)*+"'
_LITERAL = r"'[^'\n]*+'"
_LONG_BASIC = r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'
_LONG_LITERAL = r"'''.*?'''(?:'{0,2})"
_STRING = re.compile(f"{_LONG_BASIC}|{_LONG_LITERAL}|{_BASIC}|{_LITERAL}", re.DOTALL)
_KEY = re.compile(f"{_BASIC}|{_LITERAL}|[A-Za-z0-9_-]+")
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*+")
_SPACE = re.compile(r"[ \t]*+")
_PLAIN = re.compile(r"[^,\]}\n#]*+")
# Strings and comments of any text, valid or not: what is left open ends with its line, or with the text.
_OPAQUE = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\\?\Z)'
    r"|'''.*?(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z)'
    r"|'[^'\n]*+(?:'|(?=\n)|\Z)"
    r"|#[^\n]*+",
    re.DOTALL,
)


def longest_key(text: str) -> int:
    """How many dotted parts the longest key has, or more. Takes time linear in the text, which need not be valid."""
    return 1 + max(piece.count(".") for piece in re.split(r"[=,\[\]{}\n]", _OPAQUE.sub('""', text)))


def line_index(text: str) -> dict[Loc, int]:
    """The line of every value in a valid text. Lines count from 1."""
    scanner = _Scanner(text)
    # A line is a courtesy: where the walk loses its way, what it found so far is still right.
    with contextlib.suppress(_LostError):
        scanner.document()
    return scanner.lines


class _LostError(Exception):
    """The text is not what the walk expects."""


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Loc, int] = {}
        self._newlines = [index for index, char in enumerate(text) if char == "\n"]
        self._elements: dict[Loc, int] = {}

    def document(self) -> None:
        table: Loc = ()
        while self._skip(_GAP) and self.at < len(self.text):
            start = self.at
            if self._take("[["):
                table = self._header(self._key(), element=True)
                self._expect("]]")
                self._note(table[:-1], start)
                self.lines[table] = self._line(start)
            elif self._take("["):
                table = self._header(self._key(), element=False)
                self._expect("]")
                self.lines[table] = self._line(start)
                self._note(table, start)
            else:
                self._member(table)

    def _header(self, parts: Loc, *, element: bool) -> Loc:
        """Where a table's header leads: through the last element of each array of tables on its way."""
        loc: Loc = ()
        for index, part in enumerate(parts):
            loc = (*loc, part)
            if element and index == len(parts) - 1:
                self._elements[loc] = self._elements.get(loc, 0) + 1
            if loc in self._elements:
                loc = (*loc, self._elements[loc] - 1)
        return loc

    def _member(self, table: Loc) -> None:
        start = self.at
        loc = (*table, *self._key())
        self._expect("=")
        self._note(loc, start)
        self._value(loc)

    def _value(self, loc: Loc) -> None:
        self._skip(_SPACE)
        if self._take("["):
            index = 0
            while self._skip(_GAP) and not self._take("]"):
                self._note((*loc, index), self.at)
                self._value((*loc, index))
                self._skip(_GAP)
                self._take(",")
                index += 1
        elif self._take("{"):
            while self._skip(_GAP) and not self._take("}"):
                self._member(loc)
                self._skip(_GAP)
                self._take(",")
        elif self.text[self.at : self.at + 1] in ("'", '"'):
            self._match(_STRING)
        elif not self._match(_PLAIN):
            raise _LostError

    def _key(self) -> Loc:
        parts = []
        while True:
            self._skip(_SPACE)
            token = self._match(_KEY)
            parts.append(tomllib.loads(f"key = {token}")["key"] if token[0] in "\"'" else token)
            self._skip(_SPACE)
            if not self._take("."):
                return tuple(parts)

    def _note(self, loc: Loc, start: int) -> None:
        """Note where a value begins, and where those around it began unless they did before."""
        line = self._line(start)
        for end in range(len(loc), 0, -1):
            if self.lines.setdefault(loc[:end], line) != line:
                break

    def _line(self, at: int) -> int:
        return bisect.bisect_left(self._newlines, at) + 1

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        self._match(pattern)
        return True

    def _take(self, text: str) -> bool:
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def _expect(self, text: str) -> None:
        self._skip(_SPACE)
        if not self._take(text):
            raise _LostError

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise _LostError
        self.at = found.end()
        return found.group()
