"""How verdicts become one decision."""

from __future__ import annotations

from .decide import Policy, decide
from .plan import Asked, DefaultRule, Matched, Plan, Refusal, make_plan
from .texts import Texts

__all__ = ["Asked", "DefaultRule", "Matched", "Plan", "Policy", "Refusal", "Texts", "decide", "make_plan"]
