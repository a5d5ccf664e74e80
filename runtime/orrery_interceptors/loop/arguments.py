"""The arguments of a call as OpenAI-style endpoints write them: JSON in a string."""

from __future__ import annotations

from ..jsontext import Json, JsonError, loads


def parse_arguments(text: str) -> Json:
    """The input that the arguments stand for.

    Nothing at all is an empty object, which is how some endpoints write it. What is not JSON as we accept it stays
    the string it is: a guard sees it as it was written, and a tool that takes an object refuses it.
    """
    if not text.strip():
        return {}
    try:
        return loads(text)
    except JsonError:
        return text
