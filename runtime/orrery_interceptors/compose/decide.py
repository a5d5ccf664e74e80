"""One decision: rules, the rewrite chain, the gates, the policy (design, section 4).

No I/O and no knowledge of sandboxes: interceptors are things that can be asked, and plain functions will do.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns

from ..decisions import Decision, TrailEntry
from ..jsontext import Json, JsonError, loads
from ..points import SPECS, Kind, Point, Site
from ..reasons import clean, cut
from ..rewriting import merge
from ..rules import Effect, apply_default
from ..verdicts import Answer, By, Failure, FailureKind
from .answers import Denied, Handled, Rewritten, accept
from .gates import Submit, ask, ask_all
from .plan import Matched, Plan
from .texts import Texts
from .trail import Denial, denied, entry, failed

Policy = Callable[[str, Json, Site], str | None]
"""The host's own check of a tool's final input: a reason to deny, or None."""


def decide(
    plan: Plan,
    point: Point,
    payload: dict[str, Json],
    site: Site,
    *,
    policy: Policy | None = None,
    submit: Submit | None = None,
) -> Decision:
    """Decide about a payload whose fields were checked. Never raises for what an interceptor or the payload holds.

    `submit` runs a gate on another thread; without it all gates run here. The payload is not changed.
    """
    return _Deciding(plan, point, payload, site, policy, submit).decision()


class _Deciding:
    """The state of one decision."""

    def __init__(
        self,
        plan: Plan,
        point: Point,
        payload: dict[str, Json],
        site: Site,
        policy: Policy | None,
        submit: Submit | None,
    ) -> None:
        self.plan = plan
        self.point = point
        self.asked = payload
        self.payload = payload
        self.site = site
        self.policy = policy
        self.submit = submit
        self.trail: list[TrailEntry] = []
        self.changed = False
        self.handled: tuple[By, Json] | None = None
        self._texts: Texts | Failure | None = None
        self._own = False

    def decision(self) -> Decision:
        plan = self.plan
        found = self._refuse() if plan.refusals else None
        if found is None:
            if plan.defaults:
                self._fill()
            found = self._chain() if plan.rewrites else None
        if found is None and plan.gates:
            found = self._gates()
        if found is None and self.policy is not None and self.point is Point.TOOL_BEFORE:
            found = self._check(self.policy)
        return self._made(found)

    # ---- rules ------------------------------------------------------------------------------------------------

    def _refuse(self) -> Denial:
        for refusal in self.plan.refusals:
            self.trail.append(TrailEntry(refusal.extension, None, refusal.kind, Answer.DENY, None, refusal.reason))
        first = self.plan.refusals[0]
        return Denial(By(first.extension, None, first.kind), first.reason)

    def _fill(self) -> None:
        for default in self.plan.defaults:
            before = self.payload["input"]
            applied = apply_default(default.rule, before)
            if applied.effect is Effect.BLOCKED:
                why = f"default {default.rule.pointer}: {applied.why}"
                self.trail.append(TrailEntry(default.extension, None, "rule", None, None, cut(clean(why))))
            elif applied.effect is Effect.SET:
                _, patch = merge(before, applied.value, "/input")
                self._set({**self.payload, "input": applied.value}, "input")
                self.trail.append(TrailEntry(default.extension, None, "rule", Answer.REWRITE, None, None, tuple(patch)))

    # ---- the chain --------------------------------------------------------------------------------------------

    def _chain(self) -> Denial | None:
        for matched in self.plan.rewrites:
            found = self._one(matched)
            if found is not None or self.handled is not None:
                return found
        return None

    def _one(self, matched: Matched) -> Denial | None:
        interceptor = matched.interceptor
        reply = ask(matched, self.point, self.site, self._written())
        outcome = reply.outcome
        accepted = (
            outcome
            if isinstance(outcome, Failure)
            else accept(self.point, interceptor.mode, self._base(outcome.answer), outcome)
        )
        if isinstance(accepted, Rewritten) and accepted.patch:
            accepted = self._apply(accepted)
        if isinstance(accepted, Failure):
            said, found = failed(self.point, interceptor, accepted, reply, "inline")
            self.trail.append(said)
            return found
        assert not isinstance(outcome, Failure)
        patch: tuple[Json, ...] | None = None
        denial: Denial | None = None
        if isinstance(accepted, Denied):
            denial = denied(self.point, interceptor, accepted.reason)
        elif isinstance(accepted, Handled):
            self.handled = By(interceptor.extension, interceptor.name, interceptor.mode), accepted.outcome
        elif isinstance(accepted, Rewritten):
            patch = tuple(accepted.patch)
        reason = denial.reason if denial else None
        self.trail.append(entry(interceptor, reply, "inline", outcome.answer, reason=reason, patch=patch))
        return denial

    def _apply(self, rewritten: Rewritten) -> Rewritten | Failure:
        """Take a rewrite up, unless what came of it can no longer be written down."""
        before = self.payload, self._texts, self.changed
        names = SPECS[self.point].fields
        changed = [name for name in names if rewritten.payload.get(name) is not self.payload.get(name)]
        for name in changed:
            self._set({**self.payload, name: rewritten.payload[name]}, name)
        if isinstance(texts := self._written(), Failure):
            self.payload, self._texts, self.changed = before
            return Failure(FailureKind.INVALID_ANSWER, f"gave an invalid answer: {texts.detail}")
        return rewritten

    # ---- the gates --------------------------------------------------------------------------------------------

    def _gates(self) -> Denial | None:
        gates = self.plan.gates
        replies, elsewhere = ask_all(gates, self.point, self.site, self._written(), self.submit)
        first: Denial | None = None
        for index, (matched, reply) in enumerate(zip(gates, replies, strict=True)):
            interceptor, outcome = matched.interceptor, reply.outcome
            ran = "thread" if index in elsewhere else "inline"
            accepted = (
                outcome if isinstance(outcome, Failure) else accept(self.point, interceptor.mode, self.payload, outcome)
            )
            found: Denial | None = None
            if isinstance(accepted, Failure):
                said, found = failed(self.point, interceptor, accepted, reply, ran)
            else:
                assert not isinstance(outcome, Failure)
                if isinstance(accepted, Denied):
                    found = denied(self.point, interceptor, accepted.reason)
                said = entry(interceptor, reply, ran, outcome.answer, reason=found.reason if found else None)
            self.trail.append(said)
            first = first or found
        return first

    # ---- the policy -------------------------------------------------------------------------------------------

    def _check(self, policy: Policy) -> Denial | None:
        started = perf_counter_ns()
        try:
            said = policy(self.payload["tool"], self.payload["input"], self.site)
        except Exception as error:
            said = f"the policy check failed: {type(error).__name__}: {error}"
        if said is None:
            return None
        reason = cut(f"policy ({self.point}): {clean(said) or 'denied, no reason given'}")
        took = (perf_counter_ns() - started) // 1000
        self.trail.append(TrailEntry(None, None, "policy", Answer.DENY, None, reason, None, took))
        return Denial(By(None, None, "policy"), reason)

    # ---- what comes of it -------------------------------------------------------------------------------------

    def _made(self, found: Denial | None) -> Decision:
        payload, trail = self.payload, tuple(self.trail)
        if found is not None:
            if self.point is Point.TOOL_AFTER:
                withheld = {"t": "denied", "reason": found.reason, "by": found.by.to_json()}
                return Decision(
                    self.point, "deny", True, {**payload, "outcome": withheld}, found.reason, found.by, trail
                )
            if self.point is Point.MEMORY_RECALL:
                changed = self.changed or bool(payload["entries"])
                return Decision(self.point, "deny", changed, {**payload, "entries": []}, found.reason, found.by, trail)
            return Decision(self.point, "deny", self.changed, payload, found.reason, found.by, trail)
        if self.handled is not None:
            by, outcome = self.handled
            return Decision(self.point, "handled", self.changed, {**payload, "outcome": outcome}, None, by, trail)
        return Decision(self.point, "proceed", self.changed, payload, None, None, trail)

    # ---- the payload ------------------------------------------------------------------------------------------

    def _set(self, payload: dict[str, Json], name: str) -> None:
        """Go on with a payload of which one field is new."""
        self.payload = payload
        self.changed = True
        texts = self._texts
        if texts is None:
            return
        try:
            if isinstance(texts, Texts):
                self._texts = texts.changed(self.point, payload, name)
            else:
                self._texts = None
        except JsonError as error:
            self._texts = _bad(error)

    def _written(self) -> Texts | Failure:
        """The payload's texts, or why it has none."""
        if self._texts is None:
            try:
                self._texts = Texts.of(self.point, self.payload)
            except JsonError as error:
                self._texts = _bad(error)
        return self._texts

    def _base(self, answer: Answer) -> dict[str, Json]:
        """What a rewrite is laid over: the values as any reader of the texts sees them, and nobody else's objects."""
        if answer is Answer.REWRITE and not self._own and isinstance(texts := self._written(), Texts):
            kinds = SPECS[self.point].fields
            self.payload = {
                name: loads(text) if isinstance(text, bytes) and kinds[name] is not Kind.TEXT else self.payload[name]
                for (name, text) in zip(kinds, texts.fields, strict=True)
                if name in self.payload
            }
            self._own = True
        return self.payload


def _bad(error: JsonError) -> Failure:
    return Failure(FailureKind.BAD_PAYLOAD, f"the payload has no JSON text: {cut(clean(str(error)), 300)}")
