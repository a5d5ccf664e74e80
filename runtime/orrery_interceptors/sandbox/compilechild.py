"""The program that compiles one component: bytes in, machine code out.

Run by path, in a process of its own, so it imports nothing of the package but its sibling `engine`. Reads the component
from standard input and writes to standard output. Exits with 0, or with `REFUSED` and the engine's message.
"""

from __future__ import annotations

import importlib.util
import json
import resource
import sys
from pathlib import Path

REFUSED = 3


def main(settings: dict[str, object]) -> int:
    """Compile under the limits in `settings`: `memory` in bytes of address space, `seconds` of processor time."""
    sys.path[:] = list(map(str, settings["path"]))  # type: ignore[call-overload]  # written by `compiler`
    import wasmtime
    import wasmtime.component

    spec = importlib.util.spec_from_file_location("engine", Path(__file__).with_name("engine.py"))
    assert spec is not None and spec.loader is not None
    engine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(engine)

    data = sys.stdin.buffer.read()
    memory, seconds = int(str(settings["memory"])), int(str(settings["seconds"]))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        code = wasmtime.component.Component(wasmtime.Engine(engine.make_config()), data).serialize()
    except wasmtime.WasmtimeError as error:
        sys.stdout.write(str(error))
        return REFUSED
    sys.stdout.buffer.write(code)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
