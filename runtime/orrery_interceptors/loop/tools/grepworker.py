"""The child process that runs a stranger's regular expression: a plain script, standard library only.

It is given a pattern and texts and nothing else: no file is opened here. A pattern that takes for ever is ended by
killing the process, which a thread could not be.

Standard input: a line of JSON `{"pattern", "most", "width"}`, then for each text a line of JSON `{"path", "bytes"}`
and that many bytes. Standard output: a line of JSON for each match, `{"path", "line", "text"}`, up to `most` of them,
and at last `{"total": n}` or `{"error": "…"}`.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import warnings
from contextlib import suppress
from typing import BinaryIO

MEMORY = 1024 * 1024 * 1024


def main(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer one request."""
    with suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    request = json.loads(source.readline())
    try:
        found = re.compile(request["pattern"]).search
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        _put(sink, {"error": f"not a regular expression: {str(error) or type(error).__name__}"})
        return
    total = 0
    while header := source.readline():
        text = json.loads(header)
        body = source.read(text["bytes"]).decode("utf-8", "replace")
        for number, line in enumerate(body.split("\n"), 1):
            line = line.rstrip("\r")
            if found(line) is None:
                continue
            total += 1
            if total <= request["most"]:
                _put(sink, {"path": text["path"], "line": number, "text": line[: request["width"]]})
    _put(sink, {"total": total})


def _put(sink: BinaryIO, value: object) -> None:
    sink.write(json.dumps(value).encode() + b"\n")


if __name__ == "__main__":
    try:
        main(sys.stdin.buffer, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except MemoryError:
        sys.exit(3)
