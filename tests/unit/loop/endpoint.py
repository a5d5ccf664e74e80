"""A chat endpoint on the loopback, for tests: answers what it is told to, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One answer. `cut` closes the connection before the announced length is reached; `hold` never answers."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    cut: bool = False
    hold: bool = False


def message(content: str | None = "hi", calls: Sequence[Any] = (), **more: Any) -> Reply:
    """A whole answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, "tool_calls": list(calls)}}
    return Reply(json.dumps({"choices": [{**choice, "finish_reason": "stop"}], **more}).encode())


def events(*values: Any, done: bool = True) -> Reply:
    """A streamed answer. Bytes stand for themselves; other values are events."""
    parts = [
        value if isinstance(value, bytes) else b"data: " + json.dumps(value).encode() + b"\n\n" for value in values
    ]
    return Reply(
        b"".join(parts) + (b"data: [DONE]\n\n" if done else b""), headers={"content-type": "text/event-stream"}
    )


def delta(finish: str | None = None, **members: Any) -> dict[str, Any]:
    """One event of a streamed answer."""
    return {"choices": [{"index": 0, "delta": members, "finish_reason": finish}]}


@dataclass
class Endpoint:
    """The endpoint, and what it was asked: (path, headers, body)."""

    url: str
    replies: list[Reply] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all requests."""
        return [body for _, _, body in self.asked]


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """An endpoint on a free port, for as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            made.asked.append(
                (self.path, {name.lower(): value for name, value in self.headers.items()}, json.loads(body))
            )
            reply = made.replies.pop(0)
            if reply.hold:
                made.released.wait()
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body) + (100 if reply.cut else 0)))
            self.end_headers()
            self.wfile.write(reply.body)
            self.close_connection = True

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Endpoint(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        made.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
