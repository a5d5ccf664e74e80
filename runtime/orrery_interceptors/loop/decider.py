"""What the loop needs of whoever decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..decisions import Decision
from ..jsontext import Json
from ..points import Point, Site


class Decider(Protocol):
    """Asks every interceptor at a point and makes one decision of it.

    At `tool.before` the policy check is part of it.
    """

    async def adecide(self, point: Point, payload: Mapping[str, Json], site: Site) -> Decision:
        """Decide. Never blocks the event loop. Raises `PayloadError` for a payload that cannot be asked about."""
        ...
