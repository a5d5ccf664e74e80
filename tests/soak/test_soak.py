"""A short soak; `make soak` is the long one."""

from __future__ import annotations

from pathlib import Path

from soak.soak import growth, soak


def test_a_short_soak_is_flat_and_loses_no_record(tmp_path: Path) -> None:
    seen, records = soak(3000, tmp_path, steps=12)
    assert records == 3000
    assert growth(seen.memory) < 0.15
    assert max(seen.threads) - seen.threads[3] <= 4
    assert max(seen.descriptors[3:]) - min(seen.descriptors[3:]) <= 4
