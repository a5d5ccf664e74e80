"""`python -m orrery_interceptors` is `orrery`."""

from __future__ import annotations

from .cli import main

main()
