"""Server-sent events, as far as chat endpoints use them: the data of each event (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from collections.abc import Iterator


class EventReader:
    """Takes bytes as they come and gives the data of each event that is complete.

    Comments, which keep a connection alive, and every field but `data` are passed over.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take in a chunk and give what it completed."""
        self._pieces.append(chunk)
        if b"\n" not in chunk and b"\r" not in chunk:
            return  # a long line is put together once, when it ends
        text = b"".join(self._pieces)
        # A carriage return at the end may be half of a line end.
        held = b"\r" if text.endswith(b"\r") else b""
        *lines, rest = text[: len(text) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._pieces = [rest + held]
        for line in lines:
            if not line:
                if self._data:
                    yield b"\n".join(self._data)
                    self._data = []
            elif line == b"data" or line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))

    def end(self) -> Iterator[bytes]:
        """The stream ended: give the data of an event whose blank line never came, as endpoints leave out the last."""
        yield from self.feed(b"\n\n")
