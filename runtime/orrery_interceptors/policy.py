"""The host's own check of tool calls, from the config: the last word after `tool.before`."""

from __future__ import annotations

from .config import Policy
from .jsontext import Json
from .patterns import matches
from .points import Site


class ConfigPolicy:
    """Checks a tool's name against the `[policy]` of the config: `deny` wins over `allow`, `allow` over `default`."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    @property
    def trivial(self) -> bool:
        """Whether it allows everything."""
        return self._policy.default == "allow" and not self._policy.deny

    def __call__(self, tool: str, value: Json, site: Site) -> str | None:
        """A reason to deny, or None."""
        policy = self._policy
        for pattern in policy.deny:
            if matches(pattern, tool):
                return f"{tool} is denied by policy.deny ({pattern})"
        if policy.default == "deny" and not any(matches(pattern, tool) for pattern in policy.allow):
            return f"{tool} is not among policy.allow, and policy.default is deny"
        return None
