"""Models: where answers come from."""

from __future__ import annotations

from .base import OfferedTool, Provider, Request, Response, Usage
from .openai import OpenAIProvider
from .scripted import ScriptedProvider

__all__ = ["OfferedTool", "OpenAIProvider", "Provider", "Request", "Response", "ScriptedProvider", "Usage"]
