"""What matches one call, in the order in which it counts: the rules, the rewrites, the gates.

A plan depends on the point, the tool and the agent alone, so that whoever loads extensions can make it once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..points import Mode, Point, Site
from ..rules import Default
from ..verdicts import Reply
from .texts import Texts


class Asked(Protocol):
    """An interceptor that can be asked. Whatever happens comes back as a reply."""

    @property
    def extension(self) -> str:
        """The extension's name."""
        ...

    @property
    def name(self) -> str:
        """The interceptor's name."""
        ...

    @property
    def mode(self) -> Mode:
        """Its mode."""
        ...

    @property
    def expected_us(self) -> float | None:
        """How long an answer took lately, in microseconds; None where that is not known. Decides what runs where."""
        ...

    def ask(self, point: Point, site: Site, texts: Texts) -> Reply:
        """Ask it."""
        ...


@dataclass(frozen=True, slots=True)
class Refusal:
    """A denial that stands before anyone is asked.

    `kind` is `rule`, or `load` for an extension that was agreed to and cannot be loaded. `reason` is the sentence.
    """

    extension: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class DefaultRule:
    """A `default` rule and whose it is."""

    extension: str
    rule: Default


@dataclass(frozen=True, slots=True)
class Matched:
    """An interceptor that matches. `beyond` is set to the cap where it lies beyond it, and is then not asked."""

    interceptor: Asked
    beyond: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """All that matches one point, tool and agent, each part in layer order, closest first."""

    refusals: tuple[Refusal, ...] = ()
    defaults: tuple[DefaultRule, ...] = ()
    rewrites: tuple[Matched, ...] = ()
    gates: tuple[Matched, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing matches."""
        return not (self.refusals or self.defaults or self.rewrites or self.gates)


def make_plan(refusals: list[Refusal], defaults: list[DefaultRule], interceptors: list[Asked], cap: int) -> Plan:
    """A plan of what matches. `interceptors` are in layer order; those beyond the first `cap` are not asked."""
    matched = [Matched(interceptor, cap if index >= cap else None) for index, interceptor in enumerate(interceptors)]
    return Plan(
        tuple(refusals),
        tuple(defaults),
        tuple(one for one in matched if one.interceptor.mode is not Mode.GATE),
        tuple(one for one in matched if one.interceptor.mode is Mode.GATE),
    )
