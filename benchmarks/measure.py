"""Measuring: medians and high percentiles of many calls, rows measured in turns so that a slow minute hits them all."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Times:
    """Microseconds: the median, the 99th of a hundred, and how many calls it was."""

    p50: float
    p99: float
    count: int


def measure(
    rows: Mapping[str, Callable[[], None]], count: int, seconds: float = 6.0, rounds: int = 10
) -> dict[str, Times]:
    """Call each `count` times, or as often as `seconds` allow, in rounds by turns."""
    samples: dict[str, list[int]] = {name: [] for name in rows}
    for call in rows.values():
        for _ in range(5):
            call()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in rows.items():
                end = time.monotonic() + seconds / rounds
                taken = samples[name]
                for _ in range(max(count // rounds, 1)):
                    started = time.perf_counter_ns()
                    call()
                    taken.append(time.perf_counter_ns() - started)
                    if time.monotonic() > end:
                        break
    finally:
        gc.enable()
    return {name: _times(taken) for name, taken in samples.items()}


def _times(samples: list[int]) -> Times:
    ordered = sorted(samples)
    return Times(ordered[len(ordered) // 2] / 1000, ordered[int(len(ordered) * 0.99)] / 1000, len(ordered))
