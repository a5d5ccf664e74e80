"""Whether a change made a row slower than noise allows: `python benchmarks/compare.py BEFORE.json AFTER.json`.

Rows are compared as ratios to the floor of their own run, so that two machines, or two hours, do not matter. A row is
said to be slower when its ratio grew by more than a quarter.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

NOISE = 1.25


def slower(before: dict[str, float], after: dict[str, float]) -> list[tuple[str, float]]:
    """The rows that became slower, and by what factor."""
    found = []
    for name, value in after.items():
        if name in before and name != "floor":
            factor = (value / after["floor"]) / (before[name] / before["floor"])
            if factor > NOISE:
                found.append((name, factor))
    return found


def main() -> int:
    before, after = (json.loads(Path(path).read_text())["p50"] for path in sys.argv[1:3])
    rows = slower(before, after)
    for name, factor in rows:
        sys.stdout.write(f"{name}: {factor:.2f} times as slow against the floor\n")
    return 1 if rows else 0


if __name__ == "__main__":
    sys.exit(main())
