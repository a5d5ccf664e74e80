"""Answers that stand in a session file."""

from __future__ import annotations

from collections.abc import Sequence

from ..session import ScriptedTurn
from .base import Request, Response


class ScriptedProvider:
    """Gives each turn's answers in order, whatever it is asked, and none when they have run out."""

    def __init__(self, turns: Sequence[ScriptedTurn]) -> None:
        """`turns` are the session's; the site of a request says which of them it belongs to."""
        self._turns = turns
        self._given: dict[int, int] = {}

    async def complete(self, request: Request) -> Response | None:
        """The turn's next answer."""
        turn = request.site.turn
        answers = self._turns[turn - 1].answers if 0 < turn <= len(self._turns) else ()
        index = self._given.get(turn, 0)
        if index >= len(answers):
            return None
        self._given[turn] = index + 1
        answer = answers[index]
        return Response(answer.text, answer.calls, finish="tool_calls" if answer.calls else "stop")
