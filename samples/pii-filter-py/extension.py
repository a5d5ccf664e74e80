"""Drops recalled memories that hold personal data."""

from __future__ import annotations

import re

from orrery_ext import Call, Extension, Keep, MemoryRecall, log

extension = Extension()

KINDS = {
    "email": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+"),
    "phone": re.compile(r"\+?\d[\d ()/-]{7,}\d"),
    "iban": re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b"),
}


@extension.rewrite("pii-filter")
def pii_filter(recalled: MemoryRecall, call: Call) -> Keep | None:
    kinds = [KINDS[kind] for kind in call.settings["kinds"]]
    kept = [entry["id"] for entry in recalled.entries if not any(kind.search(entry["text"]) for kind in kinds)]
    if len(kept) == len(recalled.entries):
        return None
    log.info(f"{len(recalled.entries) - len(kept)} of {len(recalled.entries)} entries dropped")
    return Keep(kept)


def check(settings: dict) -> None:
    unknown = [kind for kind in settings["kinds"] if kind not in KINDS]
    if unknown:
        raise ValueError(f"settings: kinds: {', '.join(unknown)} is not among {', '.join(KINDS)}")


extension.check = check
