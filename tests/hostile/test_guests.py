"""Every hostile guest, at each point and in each mode: what is decided and said, and that nobody else is harmed."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import CODE, PAYLOADS, POINTS, interceptor, write_manifest
from hostile.build import NAMES, component, componentize, module, with_more
from orrery_interceptors import Config, FailureKind, Mode, Point, Runtime, Site
from orrery_interceptors.config import Layer
from orrery_interceptors.points import SPECS
from orrery_interceptors.registry import Declared, load_registry
from orrery_interceptors.sandbox import CodeCache, CompileLimits, ComponentError, Sandbox

DEADLINE = 60
DEADLINES = {"gateMs": DEADLINE, "rewriteMs": DEADLINE, "registerMs": 100}
# Fuel enough that a guest that spins meets its deadline first, however quick the machine.
PATIENT = Config.model_validate({"deadlines": {"gateMs": 10_000, "rewriteMs": 10_000}})
CONFIG = Config.model_validate({"deadlines": DEADLINES, "limits": {"fuel": 10**14}})
ALLOWED = [(point, mode) for point in POINTS for mode in Mode if SPECS[Point(point)].allows(mode)]
SCOPES = ", ".join(f'"{point}"' for point in POINTS)


@dataclass(frozen=True)
class Expected:
    """What becomes of a guest: a failure of this kind (None: it proceeds), or a load problem."""

    kind: FailureKind | None
    said: str = ""
    loads: bool = True


K = FailureKind
TABLE = {
    "spin": Expected(K.DEADLINE, f"no answer within {DEADLINE} ms"),
    "spin-in-register": Expected(K.DEADLINE, "no answer within 100 ms", loads=False),
    "spin-at-start": Expected(K.DEADLINE, "no answer within 100 ms", loads=False),
    "spin-in-realloc": Expected(K.DEADLINE, "no answer within 100 ms", loads=False),
    "grow-at-once": Expected(K.TRAP, "memory that was not to be had"),
    "grow-in-a-loop": Expected(K.DEADLINE, f"no answer within {DEADLINE} ms"),
    "grow-a-table": Expected(K.DEADLINE, f"no answer within {DEADLINE} ms"),
    "big-table": Expected(K.MEMORY, "table index 0 has a minimum element size of 1000000", loads=False),
    "big-memory": Expected(K.MEMORY, "needs at least 100 MiB of memory; limits.memoryMiB is 64", loads=False),
    "recurse": Expected(K.STACK, "recursed beyond the stack of 512 KiB"),
    "divide": Expected(K.TRAP, "divided by zero"),
    "overflow": Expected(K.TRAP, "integer overflow"),
    "convert": Expected(K.TRAP, "bad conversion to integer"),
    "out-of-bounds": Expected(K.TRAP, "read or wrote outside its memory"),
    "unreachable": Expected(K.TRAP, "stopped by itself"),
    "null-call": Expected(K.TRAP, "indirect call to null"),
    "wrong-call": Expected(K.TRAP, "bad signature"),
    "outside-the-table": Expected(K.TRAP, "table out of bounds"),
    "answer-beyond-memory": Expected(K.INVALID_ANSWER, "out of bounds of memory"),
    "answer-of-four-gigabytes": Expected(K.INVALID_ANSWER, "out of bounds of memory"),
    "answer-too-large": Expected(K.TOO_LARGE, "the answer of 2097152 bytes is larger than 1024 KiB"),
    "answer-not-utf8": Expected(K.INVALID_ANSWER, "cannot be read"),
    "answer-half-a-pair": Expected(K.INVALID_ANSWER, "cannot be read"),
    "answer-no-such-case": Expected(K.INVALID_ANSWER, "discriminant"),
    "answer-neither-ok-nor-err": Expected(K.INVALID_ANSWER, "discriminant 7 out of range"),
    "answer-unaligned": Expected(K.INVALID_ANSWER, "unaligned"),
    "answer-nowhere": Expected(K.INVALID_ANSWER),
    "error-of-escapes": Expected(K.GUEST_ERROR, "answered with an error: [2Jevil"),
    "realloc-elsewhere": Expected(None, "cannot be read", loads=False),
    "realloc-unaligned": Expected(K.INVALID_ANSWER),
    "realloc-same": Expected(None),
    "log-a-million": Expected(K.DEADLINE, f"no answer within {DEADLINE} ms"),
    "log-megabytes": Expected(None),
    "log-nowhere": Expected(K.INVALID_ANSWER, "out of bounds"),
    "log-no-such-level": Expected(K.INVALID_ANSWER, "discriminant"),
    "keep-state": Expected(None),
    "look-around": Expected(None),
}
# Its answer is of the points' own kind; see the test of its name.
TABLE["deny-of-escapes"] = Expected(None)


@pytest.fixture(scope="module", params=["direct", "library"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    sandbox = Sandbox(cache=CodeCache(CODE / "hostile"), compiling=CompileLimits(60, 2048), marshalling=request.param)
    yield sandbox
    sandbox.close()


def extension(folder: Path, name: str, data: bytes) -> Path:
    folder = folder / name
    write_manifest(folder, name, f"intercept = [{SCOPES}]", component="guest.wasm")
    (folder / "guest.wasm").write_bytes(data)
    return folder


def runtime(
    sandbox: Sandbox, *folders: Path, interceptors: list[Any] | None = None, config: Config = CONFIG
) -> Runtime:
    """The guests register what their settings say: every point in every mode."""
    wanted = interceptors or [interceptor(f"{p}-{m}".replace(".", "-"), p, m) for p, m in ALLOWED]
    declared = [Declared(folder, Layer.PROJECT, {"interceptors": wanted}, trusted=True) for folder in folders]
    return Runtime(load_registry(declared, config, sandbox), sandbox, config=config)


def one(point: str, mode: str) -> list[Any]:
    return [interceptor("x", point, mode)]


def test_every_guest_has_its_expectation() -> None:
    assert set(TABLE) == set(NAMES)


@pytest.mark.parametrize("name", [name for name, expected in TABLE.items() if not expected.loads])
def test_guests_that_do_not_load(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    bad, good = extension(tmp_path, name, component(name)), extension(tmp_path, "fine", component("keep-state"))
    both = runtime(sandbox, bad, good)
    (problem,) = both.problems
    assert TABLE[name].said in str(problem) and "guest.wasm" in str(problem)
    assert [loaded.name for loaded in both.extensions] == ["fine"]


@pytest.mark.parametrize("name", [name for name, expected in TABLE.items() if expected.loads])
def test_guests_that_load(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    expected = TABLE[name]
    folder = extension(tmp_path, name, component(name))
    fine = extension(tmp_path, "fine", component("keep-state"))
    # A guest that takes all its time is asked once for each way to fail; the others everywhere.
    where = ALLOWED if expected.kind is not K.DEADLINE else [ALLOWED[0], ("context.build", Mode.REWRITE)]
    # One that is slow and fine is given the time.
    config = CONFIG if expected.kind is not None else PATIENT
    for point, mode in where:
        asked = runtime(sandbox, folder, fine, interceptors=one(point, mode), config=config)
        assert not asked.problems
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        decision = asked.decide(point, PAYLOADS[point], Site("s", 1, 1))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 160 * 1024, f"the host grew by {grown} KiB"
        mine = next(entry for entry in decision.trail if entry.extension == name)
        if name == "deny-of-escapes":
            continue
        assert mine.failure is expected.kind
        if expected.kind is None:
            assert not decision.denied
        else:
            assert mine.reason is not None and mine.reason.isprintable()
            assert mine.reason.startswith(f"x ({point}, extension {name}): ") and expected.said in mine.reason
            assert decision.denied is SPECS[Point(point)].fails_closed(Mode(mode))
        if expected.kind is K.DEADLINE:
            fastest = min([mine.duration_us, *(retry(asked, point, name) for _ in range(2))])
            assert fastest < (DEADLINE + 20) * 1000
        # The next call, to it and to another one, is as the first.
        again = asked.decide(point, PAYLOADS[point], Site("s", 1, 1))
        kinds = {entry.extension: entry.failure for entry in again.trail}
        assert kinds[name] is expected.kind and kinds.get("fine") is None
        if not decision.denied or mode is Mode.GATE:
            assert "fine" in kinds


def retry(asked: Runtime, point: str, name: str) -> int:
    decision = asked.decide(point, PAYLOADS[point])
    return next(entry.duration_us for entry in decision.trail if entry.extension == name)


def test_a_denial_that_says_nothing_still_says_who(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = extension(tmp_path, "deny-of-escapes", component("deny-of-escapes"))
    decision = runtime(sandbox, folder, interceptors=one("tool.before", "gate")).decide(
        "tool.before", PAYLOADS["tool.before"]
    )
    assert decision.reason == "x (tool.before, extension deny-of-escapes): denied, no reason given"


def test_log_lines_are_kept_up_to_the_limit_and_cut(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = extension(tmp_path, "log-megabytes", component("log-megabytes"))
    entry = (
        runtime(sandbox, folder, interceptors=one("tool.before", "gate"), config=PATIENT)
        .decide("tool.before", PAYLOADS["tool.before"])
        .trail[0]
    )
    assert len(entry.logged) == 64 and entry.dropped == 36
    assert all(len(text.encode()) <= 4096 for _, text in entry.logged)


def test_fifty_memories_share_the_bound(sandbox: Sandbox, tmp_path: Path) -> None:
    """Each instance grows to 37 MiB when it starts, and stops the guest when it may not."""
    hog = """
      (core module $hog (memory 1)
        (func $start (if (i32.eq (memory.grow (i32.const 591)) (i32.const -1)) (then unreachable)))
        (start $start))
    """
    many = with_more(component("unreachable"), hog + "(core instance (instantiate $hog))" * 50)
    config = Config.model_validate({"limits": {"memoryMiB": 64}})
    loaded = runtime(sandbox, extension(tmp_path, "many", many), config=config)
    assert "memory that was not to be had" in str(loaded.problems[0])
    two = with_more(component("unreachable"), hog + "(core instance (instantiate $hog))")
    # One of 37 MiB beside the guest's own two pages: they share 64, and 32 each are too few.
    assert runtime(sandbox, extension(tmp_path, "two", two), config=config).problems
    roomy = Config.model_validate({"limits": {"memoryMiB": 80}})
    assert not runtime(sandbox, extension(tmp_path, "two", two), config=roomy).problems


def test_more_memories_than_there_may_be_are_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    more = "(core module $m (memory 0))" + "(core instance (instantiate $m))" * 80
    loaded = runtime(sandbox, extension(tmp_path, "many", with_more(component("unreachable"), more)))
    assert "83 core module instances" in str(loaded.problems[0]) and not loaded.extensions


def test_without_a_pool_the_bounds_are_the_same(tmp_path: Path) -> None:
    """The engine's own allocator, for where there is no room for a pool: instantiation is what fails."""
    unpooled = Sandbox(cache=None, compiling=CompileLimits(60, 2048), pooling=False)
    assert unpooled.unpooled == "not asked for"
    folder = extension(tmp_path, "big-table", component("big-table"))
    (problem,) = runtime(unpooled, folder).problems
    assert "needs more memory than 64 MiB, or tables" in str(problem)
    more = "(core module $m (memory 0))" + "(core instance (instantiate $m))" * 80
    assert runtime(unpooled, extension(tmp_path, "many", with_more(component("unreachable"), more))).problems
    around = extension(tmp_path, "fine", component("look-around"))
    fine = runtime(unpooled, around, interceptors=one("tool.before", "gate"), config=PATIENT)
    assert [fine.decide("tool.before", PAYLOADS["tool.before"]).decision for _ in range(3)] == ["proceed"] * 3
    unpooled.close()


def test_fuel_is_exact(sandbox: Sandbox, tmp_path: Path) -> None:
    """The least fuel with which a call passes is the same each time, and no more than what the call is said to cost."""
    folder = extension(tmp_path, "keep-state", component("keep-state"))
    wanted = one("tool.before", "gate")

    def passes(fuel: int) -> bool:
        config = Config.model_validate({"limits": {"fuel": fuel}})
        loaded = runtime(sandbox, folder, interceptors=wanted, config=config)
        if not loaded.extensions:
            return False
        failure = loaded.decide("tool.before", PAYLOADS["tool.before"]).trail[0].failure
        assert failure in (None, K.FUEL)
        return failure is None

    cost = runtime(sandbox, folder, interceptors=wanted).decide("tool.before", PAYLOADS["tool.before"]).trail[0].fuel
    assert cost is not None and passes(cost)
    low, high = 1, cost
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    assert [passes(high), passes(high - 1)] * 3 == [True, False] * 3


def test_ten_thousand_interceptors_are_a_load_problem(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = extension(tmp_path, "keep-state", component("keep-state"))
    many = [interceptor(f"i{index}") for index in range(10_000)]
    loaded = runtime(sandbox, folder, interceptors=many)
    assert "registers 10000 interceptors; at most 1024 are taken" in str(loaded.problems[0])
    assert not loaded.extensions[0].interceptors


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda text: text.replace('"write"', '"writ"'), "failed to resolve import"),
        (lambda text: text.replace('(export "cabi_realloc")', ""), "realloc"),
        (lambda text: text.replace('#watch")', '#wotch")'), "watch"),
    ],
)
def test_modules_that_are_no_extension_cannot_become_one(change: Any, what: str) -> None:
    with pytest.raises(AssertionError, match=what):
        componentize(change(module("unreachable")))


def test_a_component_that_threads_memory64_or_gc_is_refused(sandbox: Sandbox) -> None:
    import subprocess

    from hostile.build import find_wasm_tools

    def parsed(text: str) -> bytes:
        command = [str(find_wasm_tools()), "parse"]
        return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout

    from unit.sandbox.test_world import BOUNDS

    for inside in (
        "(memory 1 2 shared)",
        "(memory i64 1)",
        "(type (struct (field i32)))",
        "(tag (param i32))",
        "(func (param v128) (result v128) local.get 0 local.get 0 i32x4.relaxed_trunc_f32x4_s drop local.get 0)",
    ):
        with pytest.raises(ComponentError, match="is not a valid component"):
            sandbox.load(parsed(f"(component (core module {inside}))"), BOUNDS)
