"""Many decisions over samples and hostile guests, in several threads, extensions loaded meanwhile.

`python tests/soak/soak.py [DECISIONS]` prints resident memory, threads and descriptors as small charts, and fails when
one of them goes on growing after the first third, or when a decision is not in the audit.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hostile.build import component
from orrery_interceptors import Config, Runtime, Site
from orrery_interceptors.audit import AuditWriter, verify
from orrery_interceptors.config import Layer
from orrery_interceptors.registry import Declared, load_registry
from orrery_interceptors.sandbox import CodeCache, CompileLimits, Sandbox, default_folder

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = (
    "no-force-push",
    "redact-tokens",
    "confine-writes",
    "memory-guard",
    "house-rules",
    "model-limits",
    "read-only",
)
HOSTILE = ("divide", "recurse", "answer-not-utf8", "answer-too-large", "grow-at-once", "log-megabytes", "spin")
CONFIG = Config.model_validate(
    {"deadlines": {"gateMs": 200, "rewriteMs": 200}, "limits": {"interceptorsPerPhase": 64, "inFlight": 64}}
)
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tool.before", {"tool": "builtin.bash", "input": {"command": "cd x && git push -f"}}),
    ("tool.before", {"tool": "builtin.write", "input": {"path": "a//b", "content": "x" * 2000}}),
    ("tool.after", {"tool": "t", "input": {}, "outcome": {"t": "ok", "value": ["x" * 500] * 4}}),
    ("context.build", {"sections": [], "recalled": [], "messages": [{"role": "tool", "content": "y" * 3000}] * 4}),
    ("memory.recall", {"query": "q", "entries": [{"id": n, "text": "t"} for n in range(8)]}),
    ("provider.before", {"model": "m", "options": {"max_tokens": 9999}}),
]
# What takes its whole deadline would be all that a soak does.
RARE = {"spin": 997, "log-megabytes": 211, "answer-too-large": 61}


@dataclass
class Seen:
    """What was measured on the way, a value for each step."""

    memory: list[float] = field(default_factory=list)
    threads: list[float] = field(default_factory=list)
    descriptors: list[float] = field(default_factory=list)

    def look(self) -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.memory.append(pages * resource.getpagesize() / 2**20)
        self.threads.append(threading.active_count())
        self.descriptors.append(len(os.listdir("/proc/self/fd")))  # noqa: PTH208  # names alone


def extension(folder: Path, name: str) -> Declared:
    folder = folder / name
    folder.mkdir(exist_ok=True)
    scopes = '"tool.before", "tool.after", "context.build", "memory.recall", "provider.before"'
    (folder / "orrery.toml").write_text(
        f'[extension]\napi = "orrery-ext/1"\nname = "{name}"\nversion = "1.0.0"\nruntime = "wasm"\n'
        f'component = "guest.wasm"\n\n[requires]\nintercept = [{scopes}]\n'
    )
    (folder / "guest.wasm").write_bytes(component(name))
    wanted = [{"name": "x", "point": "tool.before", "mode": "rewrite-only", "agents": [name]}]
    return Declared(folder, Layer.PROJECT, {"interceptors": wanted}, trusted=True)


def soak(decisions: int, folder: Path, threads: int = 4, steps: int = 20) -> tuple[Seen, int]:
    """Decide so many times; returns what was seen and how many decisions the audit holds."""
    declared = [Declared.by_path(ROOT / "samples" / name) for name in SAMPLES]
    declared += [extension(folder, name) for name in HOSTILE]
    sandbox = Sandbox(cache=CodeCache(default_folder()), compiling=CompileLimits(60, 2048))
    audit = AuditWriter(folder / "audit.jsonl")
    runtime = Runtime(load_registry(declared, CONFIG, sandbox), sandbox, config=CONFIG, audit=audit)
    seen, lock, next_call = Seen(), threading.Lock(), iter(range(decisions))
    each = max(decisions // steps, 1)

    def work() -> None:
        while True:
            with lock:
                number = next(next_call, None)
                if number is None:
                    return
                if number % each == 0:
                    seen.look()
                    # A new registry in place of the old one, as a reload does it.
                    runtime.replace(load_registry(declared, CONFIG, sandbox))
            agent = next((name for name, every in RARE.items() if number % every == 0), HOSTILE[number % 4])
            point, payload = CALLS[number % len(CALLS)]
            runtime.decide(point, payload, Site("soak", 1, 1, agent))

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seen.look()
    runtime.close()
    found = verify(folder / "audit.jsonl")
    assert found.intact
    return seen, found.records


def chart(name: str, values: list[float]) -> str:
    """A line of blocks, from the least to the greatest value."""
    low, high = min(values), max(values)
    blocks = "▁▂▃▄▅▆▇█"
    line = "".join(blocks[int((value - low) / ((high - low) or 1) * 7)] for value in values)
    return f"{name:12} {line}  {low:.0f} to {high:.0f}, last {values[-1]:.0f}"


def growth(values: list[float]) -> float:
    """How much greater the last third is than the middle one, as a share. Warm-up is the first third."""
    third = len(values) // 3
    middle, last = values[third : 2 * third], values[-third:]
    return (sum(last) / len(last)) / (sum(middle) / len(middle)) - 1


def main() -> int:
    decisions = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    with tempfile.TemporaryDirectory() as folder:
        seen, records = soak(decisions, Path(folder))
    for name, values in (("memory MiB", seen.memory), ("threads", seen.threads), ("descriptors", seen.descriptors)):
        sys.stdout.write(chart(name, values) + f", {growth(values):+.1%}\n")
    sys.stdout.write(f"{decisions} decisions, {records} records\n")
    flat = growth(seen.memory) < 0.05 and growth(seen.threads) < 0.1 and growth(seen.descriptors) < 0.1
    return 0 if flat and records == decisions else 1


if __name__ == "__main__":
    sys.exit(main())
