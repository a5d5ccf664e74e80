"""What a user would pick instead, on the same work: a call's JSON in, allow or deny out."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

CALL = json.dumps({"tool": "builtin.bash", "input": {"command": "ls"}})

_PYTHON_SERVER = """
import sys, json
for line in sys.stdin:
    call = json.loads(line)
    command = call["params"]["input"].get("command", "")
    answer = {"deny": "no"} if "push --force" in command else None
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": answer}) + "\\n")
    sys.stdout.flush()
"""
_NODE_SERVER = """
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const call = JSON.parse(line);
  const command = call.params.input.command ?? "";
  const result = command.includes("push --force") ? { deny: "no" } : null;
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: call.id, result }) + "\\n");
});
"""
_HOOK = """
import sys, json
call = json.load(sys.stdin)
if "push --force" in call["input"].get("command", ""):
    json.dump({"deny": "no"}, sys.stdout)
"""


@contextlib.contextmanager
def json_rpc(command: list[str]) -> Iterator[Callable[[], None]]:
    """A running process that is asked over a pipe, a line a call. No isolation between calls."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None and process.stdout is not None
        stdin, stdout = process.stdin, process.stdout
        number = 0

        def call() -> None:
            nonlocal number
            number += 1
            request = {"jsonrpc": "2.0", "id": number, "method": "tool.before", "params": json.loads(CALL)}
            stdin.write(json.dumps(request).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                answer += stdout.read(65536)
            assert json.loads(answer)["id"] == number

        yield call
        stdin.close()


@contextlib.contextmanager
def hook_process() -> Iterator[Callable[[], None]]:
    """A process for each call, as agents run hooks."""

    def call() -> None:
        subprocess.run([sys.executable, "-S", "-c", _HOOK], input=CALL.encode(), capture_output=True, check=True)

    yield call


@contextlib.contextmanager
def in_process() -> Iterator[Callable[[], None]]:
    """A Python function through pluggy, with all the rights of the host."""
    import pluggy

    spec, hook = pluggy.HookspecMarker("bench"), pluggy.HookimplMarker("bench")

    class Spec:
        @spec
        def before(self, call: dict[str, object]) -> None: ...

    class Plugin:
        @hook
        def before(self, call: dict[str, dict[str, str]]) -> str | None:
            return "no" if "push --force" in call["input"].get("command", "") else None

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Spec)
    manager.register(Plugin())
    yield lambda: manager.hook.before(call=json.loads(CALL)) and None


_EXTISM_WAT = """
(module
  (import "extism:host/env" "input_length" (func $length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $load (param i64) (result i32)))
  (func (export "before") (result i32)
    (local $at i64) (local $sum i32)
    (block $done
      (loop $next
        (br_if $done (i64.ge_u (local.get $at) (call $length)))
        (local.set $sum (i32.add (local.get $sum) (call $load (local.get $at))))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $next)))
    (i32.const 0))
)
"""


@contextlib.contextmanager
def extism(*, fresh: bool) -> Iterator[Callable[[], None]]:
    """An Extism plugin that reads its input; kept between calls, or made anew for each."""
    import extism as library
    import wasmtime

    wasm = bytes(wasmtime.wat2wasm(_EXTISM_WAT))
    compiled = library.CompiledPlugin({"wasm": [{"data": wasm}]}) if hasattr(library, "CompiledPlugin") else None
    kept = library.Plugin({"wasm": [{"data": wasm}]})

    def call() -> None:
        plugin = (library.Plugin(compiled or {"wasm": [{"data": wasm}]})) if fresh else kept
        plugin.call("before", CALL.encode())

    yield call


@contextlib.contextmanager
def all_others() -> Iterator[dict[str, Callable[[], None]]]:
    """Every one of these that can be had here, by name."""
    with contextlib.ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        rows: dict[str, Callable[[], None]] = {}
        python = Path(folder, "server.py")
        python.write_text(_PYTHON_SERVER)
        rows["JSON-RPC process, Python"] = stack.enter_context(json_rpc([sys.executable, str(python)]))
        if node := shutil.which("node"):
            script = Path(folder, "server.js")
            script.write_text(_NODE_SERVER)
            rows["JSON-RPC process, Node"] = stack.enter_context(json_rpc([node, str(script)]))
        rows["hook process, Python"] = stack.enter_context(hook_process())
        for name, make in (
            ("pluggy, in process", in_process),
            ("Extism, kept", lambda: extism(fresh=False)),
            ("Extism, fresh", lambda: extism(fresh=True)),
        ):
            try:
                rows[name] = stack.enter_context(make())
            except Exception as error:  # what is not installed is left out, and said
                sys.stderr.write(f"{name} is left out: {type(error).__name__}: {error}\n")
        yield rows
