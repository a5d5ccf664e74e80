"""`make bench`: everything in one go, beside what a user would pick instead; writes RESULTS.md and its figures.

Figures are microseconds on the machine that is named; what counts are the ratios, taken in one run.
"""

from __future__ import annotations

import asyncio
import json
import platform
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from floor import make_floor
from made import declared, extension, runtime, small
from measure import Times, measure
from others import all_others

from orrery_interceptors import Runtime, Site

HERE = Path(__file__).resolve().parent
CALL = {"tool": "builtin.bash", "input": {"command": "ls"}}
OTHER = {"tool": "builtin.read", "input": {"path": "x"}}
SITE = Site("s", 1, 1)


def interceptor(name: str, mode: str = "gate", **more: Any) -> dict[str, Any]:
    return {"name": name, "point": "tool.before", "mode": mode, "tools": ["builtin.bash"], **more}


def decides(made: Runtime, payload: dict[str, Any] | None = None, point: str = "tool.before") -> Callable[[], None]:
    asked = payload or CALL

    def call() -> None:
        made.decide(point, asked, SITE)

    return call


def decision_rows(folder: Path) -> tuple[dict[str, Callable[[], None]], list[Runtime]]:
    """The decisions that are measured, and the runtimes to close."""
    from hostile.build import component

    one = small(folder)
    echo = extension(folder, "echo", component("keep-state"))
    chain = [interceptor("w", "rewrite"), *(interceptor(f"g{index}") for index in range(3))]
    rule = {"t": "refuse", "tools": ["builtin.read"], "reason": "no"}
    made = {
        "one gate, with audit": runtime(declared(one), audit=folder / "one.jsonl"),
        "one gate": runtime(declared(one)),
        "a rewrite and three gates": runtime(declared(echo, interceptors=chain)),
        "eight gates": runtime(declared(echo, interceptors=[interceptor(f"g{index}") for index in range(8)])),
        "one gate in WAT": runtime(declared(echo, interceptors=[interceptor("g")])),
        "rules only": runtime(declared(echo, interceptors=[], rules=[rule])),
        "nothing matches": runtime(declared(one)),
    }
    payloads = {"rules only": OTHER, "nothing matches": OTHER}
    return {name: decides(each, payloads.get(name)) for name, each in made.items()}, list(made.values())


def many_extensions(folder: Path) -> dict[str, Callable[[], None]]:
    """One that matches among so many that are loaded."""
    rows = {}
    one = small(folder)
    others = [small(folder, f"small-{index}") for index in range(199)]
    for path in others:
        text = (path / "orrery.toml").read_text()
        (path / "orrery.toml").write_text(text)
    from hostile.build import component

    quiet = [extension(folder, f"quiet-{index}", component("keep-state")) for index in range(199)]
    asks = [interceptor("g", tools=["mcp__*"])]
    for count in (1, 200):
        made = runtime(declared(one), *(declared(path, interceptors=asks) for path in quiet[: count - 1]))
        rows[f"{count} loaded"] = decides(made)
    return rows


def payload_rows(folder: Path) -> dict[str, Callable[[], None]]:
    """context.build of growing size through a guest that reads nothing, beside writing and reading the JSON."""
    from hostile.build import component

    echo = extension(folder, "reads-nothing", component("keep-state"))
    wanted = [{"name": "c", "point": "context.build", "mode": "rewrite"}]
    made = runtime(declared(echo, interceptors=wanted), config={"deadlines": {"rewriteMs": 5000}})
    rows: dict[str, Callable[[], None]] = {}
    for name, size in (
        ("100 B", 100),
        ("10 KB", 10_000),
        ("100 KB", 100_000),
        ("1 MB", 1_000_000),
        ("8 MB", 8_000_000),
    ):
        messages = [{"role": "user", "content": "lorem ipsum " * 80} for _ in range(max(size // 1000, 1))]
        payload = {"sections": [], "recalled": [], "messages": messages if size > 100 else [{"role": "user"}]}
        rows[f"{name} through a guest"] = decides(made, payload, "context.build")
        rows[f"{name} json"] = lambda payload=payload: json.loads(json.dumps(payload)) and None
    return rows


def computing(folder: Path) -> dict[str, float]:
    """Eight gates that compute, against one: how much of their sum they take, in milliseconds."""
    from guests.build import guest

    probe = extension(folder, "probe", guest("probe").read_bytes())
    spin = {"t": "spin-ms-ish", "iterations": 60_000_000, "then": {"t": "proceed"}}

    def made(count: int) -> Runtime:
        gates = [interceptor(f"g{index}") for index in range(count)]
        settings = {"register": {"interceptors": gates}, "do": {f"g{index}": spin for index in range(count)}}
        return runtime(declared(probe, **settings), config={"deadlines": {"gateMs": 20_000}})

    single, eight = made(1), made(8)
    times: dict[str, list[float]] = {"one": [], "eight": []}
    for _ in range(6):
        for name, each in (("one", single), ("eight", eight)):
            started = time.perf_counter()
            each.decide("tool.before", CALL, SITE)
            times[name].append((time.perf_counter() - started) * 1000)
    return {name: sorted(taken)[len(taken) // 2] for name, taken in times.items()}


def spinning(folder: Path, busy: int) -> float:
    """The 99th of a hundred of how many milliseconds after its deadline of 100 a spinning guest was denied."""
    from hostile.build import component

    spin = extension(folder, "spin", component("spin"))
    made = runtime(
        declared(spin, interceptors=[interceptor("g")]),
        config={"deadlines": {"gateMs": 100}, "limits": {"fuel": 10**14}},
    )
    stop = threading.Event()
    threads = [threading.Thread(target=lambda: [None for _ in iter(stop.is_set, True)]) for _ in range(busy)]
    for thread in threads:
        thread.start()
    late = []
    for _ in range(40):
        started = time.perf_counter()
        made.decide("tool.before", CALL, SITE)
        late.append((time.perf_counter() - started) * 1000 - 100)
    stop.set()
    return sorted(late)[int(len(late) * 0.99)]


def throughput(folder: Path) -> dict[int, float]:
    """Decisions a second, by threads."""
    made = runtime(declared(small(folder)))
    rates = {}
    for threads in (1, 2, 8):
        counts = [0] * threads
        end = time.monotonic() + 2

        def work(index: int, counts: list[int] = counts, end: float = end) -> None:
            while time.monotonic() < end:
                for _ in range(20):
                    made.decide("tool.before", CALL, SITE)
                counts[index] += 20

        workers = [threading.Thread(target=work, args=(index,)) for index in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        rates[threads] = sum(counts) / 2
    return rates


def asynchronous(folder: Path) -> Times:
    """The same decision awaited."""
    made = runtime(declared(small(folder)))

    async def main() -> list[int]:
        taken = []
        for _ in range(1500):
            started = time.perf_counter_ns()
            await made.adecide("tool.before", CALL, SITE)
            taken.append(time.perf_counter_ns() - started)
        return sorted(taken)

    taken = asyncio.run(main())
    return Times(taken[len(taken) // 2] / 1000, taken[int(len(taken) * 0.99)] / 1000, len(taken))


def per_extension(folder: Path) -> float:
    """Resident memory of each further Rust extension, in MiB."""

    def resident() -> float:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20

    paths = [small(folder, f"copy-{index}") for index in range(60)]
    for index, path in enumerate(paths):
        # Different bytes, or they would share their code.
        with (path / "guest.wasm").open("ab") as file:
            file.write(b"\0" + bytes([3, 1, 120, index]))
    first = runtime(*(declared(path) for path in paths[:10]))
    before = resident()
    rest = runtime(*(declared(path) for path in paths[10:]))
    after = resident()
    first.close()
    rest.close()
    return (after - before) / 50


def starts(folder: Path) -> dict[str, float]:
    """Milliseconds from a folder to an extension in force: compiled, and from the code cache."""
    from orrery_interceptors.sandbox import Bounds, CodeCache, CompileLimits, Sandbox

    data = (small(folder) / "guest.wasm").read_bytes()
    taken: dict[str, float] = {}
    sandbox = Sandbox(cache=CodeCache(folder / "code"), compiling=CompileLimits(60, 2048))
    for name in ("first", "second"):
        started = time.perf_counter()
        sandbox.load(data, Bounds(10**9, 64, 1024, 8192, 16, 64))
        taken[name] = (time.perf_counter() - started) * 1000
    sandbox.close()
    return taken


BARS: list[tuple[str, str, float]] = [
    ("one gate, decision with trail and audit, against the floor", "gate/floor", 1.6),
    ("the same, against a fresh Extism plugin", "gate/extism-fresh", 0.08),
    ("the same, against a running Node JSON-RPC process", "gate/node", 1.6),
    ("the same, against a Python hook process", "gate/hook", 0.0025),
    ("rules only, against the floor", "rules/floor", 0.4),
    ("nothing matching, against the floor", "nothing/floor", 0.15),
    ("eight tiny gates against one", "eight/one", 6),
    ("eight computing gates on two cores against their sum", "computing", 0.6),
    ("1 MB context.build through a guest, against json", "megabyte/json", 1.5),
    ("200 extensions loaded, against one", "200/1", 1.2),
    ("a spinning guest is denied after its deadline plus, ms", "spin", 10),
    ("the same with three busy threads, ms", "spin-busy", 60),
    ("resident memory for each further Rust extension, MiB", "memory", 1),
]
AT_LEAST: list[tuple[str, str, float]] = [
    ("decisions a second on two threads against one", "2/1", 1.1),
    ("decisions a second on eight threads against one", "8/1", 1.0),
]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, runtimes = decision_rows(folder)
        rows = {"floor": make_floor(folder / "small" / "guest.wasm", b"small"), **rows}
        with all_others() as others:
            times = measure({**rows, **others}, count)
        for made in runtimes:
            made.close()
        times |= measure(many_extensions(folder), count)
        times |= measure(payload_rows(folder), count // 10)
        times["one gate, awaited"] = asynchronous(folder)
        rates, computed = throughput(folder), computing(folder)
        late, late_busy = spinning(folder, 0), spinning(folder, 3)
        memory, started = per_extension(folder), starts(folder)

    def ratio(one: str, other: str) -> float | None:
        return times[one].p50 / times[other].p50 if one in times and other in times else None

    gate = "one gate, with audit"
    found: dict[str, float | None] = {
        "gate/floor": ratio(gate, "floor"),
        "gate/extism-fresh": ratio(gate, "Extism, fresh"),
        "gate/node": ratio(gate, "JSON-RPC process, Node"),
        "gate/hook": ratio(gate, "hook process, Python"),
        "rules/floor": ratio("rules only", "floor"),
        "nothing/floor": ratio("nothing matches", "floor"),
        "eight/one": ratio("eight gates", "one gate in WAT"),
        "computing": computed["eight"] / (8 * computed["one"]),
        "megabyte/json": ratio("1 MB through a guest", "1 MB json"),
        "200/1": ratio("200 loaded", "1 loaded"),
        "spin": late,
        "spin-busy": late_busy,
        "memory": memory,
        "2/1": rates[2] / rates[1],
        "8/1": rates[8] / rates[1],
    }
    write(times, found, rates, started)


def write(
    times: dict[str, Times], found: dict[str, float | None], rates: dict[int, float], started: dict[str, float]
) -> None:
    """The results as a page, as JSON for compare.py, and as bars."""
    floor = times["floor"].p50
    lines = ["# Results\n", f"Written by `make bench` on {machine()}.\n"]
    lines += ["Microseconds for one call. What counts are the ratios, taken in one run.\n"]
    lines += ["| row | p50 | p99 | against the floor |", "| --- | ---: | ---: | ---: |"]
    lines += [f"| {name} | {row.p50:.1f} | {row.p99:.1f} | {row.p50 / floor:.2f} |" for name, row in times.items()]
    lines += ["\n| bar | wanted | found | |", "| --- | ---: | ---: | --- |"]
    for what, key, most in BARS:
        lines.append(_bar(what, f"≤ {most:g}", found[key], lambda value, most=most: value <= most))
    for what, key, least in AT_LEAST:
        lines.append(_bar(what, f"≥ {least:g}", found[key], lambda value, least=least: value >= least))
    lines += [f"\nDecisions a second: {', '.join(f'{rate:.0f} on {n}' for n, rate in rates.items())} threads."]
    lines += [
        f"A Rust extension starts in {started['first']:.0f} ms when it is compiled, {started['second']:.1f} ms later."
    ]
    (HERE / "RESULTS.md").write_text("\n".join(lines) + "\n")
    (HERE / "results.json").write_text(
        json.dumps({"p50": {name: row.p50 for name, row in times.items()}, "bars": found}, indent=1) + "\n"
    )
    (HERE / "bars.svg").write_text(bars({name: row.p50 for name, row in list(times.items())[:14]}))
    sys.stdout.write("\n".join(lines) + "\n")


def _bar(what: str, wanted: str, value: float | None, holds: Callable[[float], bool]) -> str:
    if value is None:
        return f"| {what} | {wanted} | | not measured here |"
    return f"| {what} | {wanted} | {value:.4g} | {'met' if holds(value) else 'missed'} |"


def machine() -> str:
    """What the figures were taken on."""
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.machine(),
    )
    import os

    return f"{os.cpu_count()} cores ({model}), Python {platform.python_version()}, {platform.system()}"


def bars(values: dict[str, float]) -> str:
    """Horizontal bars on a logarithmic scale."""
    import math

    low = math.log10(min(values.values()))
    high = math.log10(max(values.values()))
    rows = []
    for index, (name, value) in enumerate(values.items()):
        y, width = 24 + index * 22, 20 + 420 * (math.log10(value) - low) / ((high - low) or 1)
        rows.append(f'<text x="230" y="{y + 12}" text-anchor="end">{name}</text>')
        rows.append(f'<rect x="240" y="{y}" width="{width:.0f}" height="16" fill="#4a7"/>')
        rows.append(f'<text x="{245 + width:.0f}" y="{y + 12}">{value:.1f}</text>')
    height = 34 + len(values) * 22
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="780" height="{height}" font-family="sans-serif" '
        'font-size="12">'
        f'<text x="240" y="14">microseconds for one call, median, logarithmic</text>{"".join(rows)}</svg>\n'
    )


if __name__ == "__main__":
    main()
