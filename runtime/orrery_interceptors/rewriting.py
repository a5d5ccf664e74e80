"""What a rewrite really changed: the guest's answer laid over what it was asked about.

A guest answers a whole value, often after a trip through a language whose numbers are doubles and whose objects sort
their keys. Only what it touched may change, so the answer is merged into the original: a number that is the original's
when both are read as doubles *is* the original, members keep their order, and what is equal is taken from the original.
The same walk writes the change down as a patch (RFC 6902), so that audits show edits.
"""

from __future__ import annotations

from typing import Any

from .jsontext import Json, escape

Patch = list[dict[str, Any]]


def merge(original: Json, answer: Json, pointer: str = "") -> tuple[Json, Patch]:
    """The value that goes on, and the patch that leads from `original` to it.

    With an empty patch the value is `original` itself. Neither argument is changed; unchanged parts are shared.
    """
    patch: Patch = []
    return _merge(original, answer, pointer, patch), patch


def same(original: Json, answer: Json) -> bool:
    """Whether an answer says nothing else than the original, numbers read as doubles and members in any order."""
    if isinstance(original, bool) or isinstance(answer, bool):
        return original is answer
    if isinstance(original, (int, float)):
        return isinstance(answer, (int, float)) and (original == answer or float(original) == float(answer))
    if isinstance(original, dict):
        return (
            isinstance(answer, dict)
            and original.keys() == answer.keys()
            and all(same(value, answer[name]) for name, value in original.items())
        )
    if isinstance(original, list):
        return isinstance(answer, list) and len(original) == len(answer) and all(map(same, original, answer))
    return type(original) is type(answer) and bool(original == answer)


def _merge(original: Json, answer: Json, pointer: str, patch: Patch) -> Json:
    if isinstance(original, dict) and isinstance(answer, dict):
        return _merge_object(original, answer, pointer, patch)
    if isinstance(original, list) and isinstance(answer, list):
        return _merge_array(original, answer, pointer, patch)
    if same(original, answer):
        return original
    patch.append({"op": "replace", "path": pointer, "value": answer})
    return answer


def _merge_object(original: dict[str, Json], answer: dict[str, Json], pointer: str, patch: Patch) -> Json:
    before = len(patch)
    merged: dict[str, Json] = {}
    for name, value in original.items():
        below = f"{pointer}/{escape(name)}"
        if name in answer:
            merged[name] = _merge(value, answer[name], below, patch)
        else:
            patch.append({"op": "remove", "path": below})
    for name, value in answer.items():
        if name not in original:
            merged[name] = value
            patch.append({"op": "add", "path": f"{pointer}/{escape(name)}", "value": value})
    return original if len(patch) == before else merged


def _merge_array(original: list[Json], answer: list[Json], pointer: str, patch: Patch) -> Json:
    """Match what was kept, wherever it now stands, so that only new or touched items come from the answer.

    Items are paired in four steps: the common head and tail; equal items; in each gap that is left, items that have
    most in common; what then remains, in order. Pairs never cross, so the patch edits the array from left to right.
    """
    head = 0
    shorter = min(len(original), len(answer))
    while head < shorter and same(original[head], answer[head]):
        head += 1
    tail = 0
    while tail < shorter - head and same(original[-1 - tail], answer[-1 - tail]):
        tail += 1
    if head == len(original) == len(answer):
        return original
    merged = original[:head]
    old, new = head, head
    end = len(original) - tail, len(answer) - tail
    for equal in [*_equal_pairs(original, answer, head, *end), end]:
        for alike in [*_alike_pairs(original, answer, old, new, *equal), equal]:
            _fill_gap(original[old : alike[0]], answer[new : alike[1]], pointer, merged, patch)
            if alike != end:
                merged.append(_merge(original[alike[0]], answer[alike[1]], f"{pointer}/{len(merged)}", patch))
            old, new = alike[0] + 1, alike[1] + 1
    return merged + original[end[0] :]


def _fill_gap(old: list[Json], new: list[Json], pointer: str, merged: list[Json], patch: Patch) -> None:
    for index, value in enumerate(new):
        at = f"{pointer}/{len(merged)}"
        if index < len(old):
            merged.append(_merge(old[index], value, at, patch))
        else:
            patch.append({"op": "add", "path": at, "value": value})
            merged.append(value)
    patch.extend({"op": "remove", "path": f"{pointer}/{len(merged)}"} for _ in old[len(new) :])


_Pairs = list[tuple[int, int]]
_MOST_COMPARISONS = 4096


def _alike_pairs(original: list[Json], answer: list[Json], old: int, new: int, old_end: int, new_end: int) -> _Pairs:
    """Objects of a gap that share members: for each new one the old one with most in common. Unequal gaps only, and
    small ones: where as many came back as went in, they are taken to stand in their places."""
    gap = (old_end - old, new_end - new)
    if gap[0] == gap[1] or gap[0] * gap[1] > _MOST_COMPARISONS:
        return []
    pairs: _Pairs = []
    for index in range(new, new_end):
        scores = [_shared(original[place], answer[index]) for place in range(old, old_end)]
        if scores and (best := max(scores)) > 0:
            old += scores.index(best)
            pairs.append((old, index))
            old += 1
    return pairs


def _shared(one: Json, other: Json) -> int:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return 0
    return sum(1 for name, value in one.items() if name in other and same(value, other[name]))


def _equal_pairs(original: list[Json], answer: list[Json], start: int, old_end: int, new_end: int) -> _Pairs:
    """Equal items of two middles, increasing in both: for each new item the next old one that equals it."""
    if old_end - start == 0 or new_end - start == 0:
        return []
    places: dict[Any, list[int]] = {}
    for index in range(old_end - 1, start - 1, -1):
        places.setdefault(_key(original[index]), []).append(index)
    pairs: _Pairs = []
    last = start - 1
    for index in range(start, new_end):
        candidates = places.get(_key(answer[index]))
        while candidates and candidates[-1] <= last:
            candidates.pop()
        if candidates:
            last = candidates.pop()
            pairs.append((last, index))
    return pairs


def _key(value: Json) -> Any:
    """A hashable stand-in: two values have the same key exactly when they are `same`."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return type(value), value
    if isinstance(value, (int, float)):
        return "number", float(value)
    if isinstance(value, dict):
        return "object", frozenset((name, _key(member)) for name, member in value.items())
    return "array", tuple(map(_key, value))
