"""What is loaded, in which order, and what of it matches a call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from ..compose import Asked, DefaultRule, Plan, Refusal, make_plan
from ..config import Config, Layer
from ..errors import Problem
from ..patterns import covers, matches
from ..points import SPECS, Point
from ..reasons import clean, cut
from ..reasons import rule as rule_reason
from ..rules import Default, Refuse
from ..sandbox import Sandbox
from .extension import LoadedExtension, RegisteredInterceptor, RegisteredWatcher
from .loading import Declared, LoadOutcome, NotLoaded, load_extension, not_loaded

_MOST_PLANS = 4096
_LAYERS = list(Layer)
_AT_ONCE = 4


class Registry:
    """Extensions in layer order, closest first. Does not change once it is made, so it may be used from any thread.

    `problems` say what is not in force and why; `warnings` what is in force but not as someone meant it.
    """

    def __init__(
        self,
        extensions: Sequence[LoadedExtension],
        not_loaded: Sequence[NotLoaded] = (),
        problems: Sequence[Problem] = (),
        warnings: Sequence[Problem] = (),
        *,
        cap: int,
    ) -> None:
        self.extensions = tuple(extensions)
        self.not_loaded = tuple(not_loaded)
        self.problems = tuple(problems)
        self.warnings = (*warnings, *_cap_warnings(self.extensions, cap))
        self._cap = cap
        self._at: dict[Point, list[RegisteredInterceptor]] = {point: [] for point in Point}
        for extension in self.extensions:
            for interceptor in extension.interceptors:
                self._at[Point(interceptor.of.point)].append(interceptor)
        self._watchers = [watcher for extension in self.extensions for watcher in extension.watchers]
        self._plans: dict[tuple[Point, str | None, str], Plan] = {}

    def plan(self, point: Point, tool: str | None, agent: str) -> Plan:
        """What matches a call. `tool` is None at points that are not about tools."""
        key = (point, tool, agent)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._make(point, tool, agent)
            if len(self._plans) >= _MOST_PLANS:
                # A caller that makes up names must not fill the memory.
                self._plans = {}
            self._plans[key] = plan
        return plan

    def watchers(self, point: Point, tool: str | None, agent: str) -> list[RegisteredWatcher]:
        """The extensions' watchers that are told of a call."""
        return [watcher for watcher in self._watchers if watcher.matches(point, tool, agent)]

    def close(self) -> None:
        """No further call of any extension begins."""
        for extension in self.extensions:
            if extension.guest is not None:
                extension.guest.close()

    def _make(self, point: Point, tool: str | None, agent: str) -> Plan:
        refusals = [
            Refusal(one.name, "load", _load_reason(one, point))
            for one in self.not_loaded
            if SPECS[point].may_deny and _in_scope(one, point, tool)
        ]
        defaults: list[DefaultRule] = []
        for extension in self.extensions if point is Point.TOOL_BEFORE and tool is not None else ():
            for rule in extension.rules:
                if isinstance(rule, Refuse) and any(matches(pattern, tool or "") for pattern in rule.tools):
                    refusals.append(Refusal(extension.name, "rule", rule_reason(extension.name, point, rule.reason)))
                elif isinstance(rule, Default) and matches(rule.tool, tool or ""):
                    defaults.append(DefaultRule(extension.name, rule))
        matched: list[Asked] = [one for one in self._at[point] if one.matches(tool, agent)]
        return make_plan(refusals, defaults, matched, self._cap)


def load_registry(declared: Iterable[Declared], config: Config, sandbox: Sandbox) -> Registry:
    """Load all that is declared, closest layer first. Never raises for what an extension is or does.

    Of two extensions with one name the one of the farther layer is loaded, which has more authority.
    """
    wanted = sorted(declared, key=lambda one: _LAYERS.index(one.layer))
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="orrery-loading") as pool:
        outcomes = list(pool.map(lambda one: load_extension(one, config, sandbox), wanted))
    outcomes = _without_doubles(wanted, outcomes)
    loaded = [outcome.result for outcome in outcomes if isinstance(outcome.result, LoadedExtension)]
    failed = [outcome.result for outcome in outcomes if isinstance(outcome.result, NotLoaded)]
    problems = [
        problem
        for outcome in outcomes
        for problem in (outcome.result.problems if isinstance(outcome.result, NotLoaded) else outcome.problems)
    ]
    warnings = [warning for outcome in outcomes for warning in outcome.warnings]
    return Registry(loaded, failed, problems, warnings, cap=config.limits.interceptors_per_phase)


def _without_doubles(wanted: list[Declared], outcomes: list[LoadOutcome]) -> list[LoadOutcome]:
    first: dict[str, Declared] = {}
    result: list[LoadOutcome] = []
    # From the farthest layer, and within a layer from the first: who comes first keeps the name.
    order = sorted(range(len(wanted)), key=lambda index: (-_LAYERS.index(wanted[index].layer), index))
    kept: dict[int, LoadOutcome] = {}
    for index in order:
        outcome, declared = outcomes[index], wanted[index]
        if isinstance(outcome.result, LoadedExtension):
            name = outcome.result.name
            if name in first:
                other = first[name]
                what = f"extension {name} is declared twice; the one in {other.folder} ({other.layer}) is in force"
                problem = Problem(what, file=declared.file or declared.folder, line=declared.line, fix="remove one")
                outcome = LoadOutcome(not_loaded(declared, (problem,)))
            else:
                first[name] = declared
        kept[index] = outcome
    result.extend(kept[index] for index in range(len(wanted)))
    return result


def _in_scope(one: NotLoaded, point: Point, tool: str | None) -> bool:
    return any(scope.point is point and (tool is None or matches(scope.tools, tool)) for scope in one.closed)


def _load_reason(one: NotLoaded, point: Point) -> str:
    why = clean(str(one.problems[0])) if one.problems else "it cannot be loaded"
    return cut(f"extension {one.name} ({point}): agreed to, and cannot be loaded: {why}")


def _cap_warnings(extensions: tuple[LoadedExtension, ...], cap: int) -> list[Problem]:
    """A warning for each point at which one call can match more interceptors than are asked."""
    warnings = []
    for point in Point:
        at = [one for extension in extensions for one in extension.interceptors if one.of.point == point]
        if len(at) <= cap:
            continue
        names = {pattern for one in at for pattern in one.of.tools} or {"*"}
        most = max(
            sum(1 for one in at if not one.of.tools or any(covers(wide, name) for wide in one.of.tools))
            for name in names
        )
        if most > cap:
            what = (
                f"{most} interceptors can match one call at {point}; limits.interceptorsPerPhase is {cap}, "
                "and those beyond fail by their mode"
            )
            warnings.append(Problem(what, fix="raise limits.interceptorsPerPhase, or load fewer"))
    return warnings
