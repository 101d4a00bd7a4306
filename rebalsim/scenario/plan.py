"""A plan file → Plan, or all its problems: as strict as a scenario, with the same reader and the
same way of saying what is wrong.

Whether an axis' path and values mean something is the base scenario's business: `check` tries
each value of each axis on it alone, so that a mistake is shown on the axis' line. Combinations
that cannot be are no mistakes of the file; they become rows with an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from rebalsim.domain.budget import Budget
from rebalsim.domain.errors import Problem, ProblemsError
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.sweep import Axis, Base, Costs, Objective, Plan, SampledAxis
from rebalsim.scenario.axes import AnyScalar, AxisKind, axis_of
from rebalsim.scenario.budgets import read_budgets
from rebalsim.scenario.condition import ConditionError, parse_condition
from rebalsim.scenario.document import Mapping, Scalar, Sequence, parse
from rebalsim.scenario.kinds import (
    Duration,
    Field,
    ListOf,
    MapOf,
    Number,
    Section,
    Text,
    Whole,
    Written,
)
from rebalsim.scenario.language import BUDGET_SHAPE, Raw
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.replay_language import STOCK_VARIANTS
from rebalsim.scenario.source import Source, shorten
from rebalsim.words.nearest import nearest, nearest_metric, or_nearest

MOST_RUNS = 1_000_000_000  # more is a mistake in the plan, not an ambition
OBJECTIVES = ("cost", "consumers", "members")

_PATH = Text("a setting's path such as group.members, or a name for cases", max_length=300)
_SEEDS = Section(
    "seeds",
    (
        Field(
            "count",
            Whole(1, 1_000_000),
            "How many seeds each point is played with.",
            is_required=True,
        ),
        Field("first", Whole(0), "The first of them.", default="1"),
    ),
    "The seeds of a sweep.",
    shorthand="count",
)
_COSTS = Section(
    "costs",
    (
        Field(
            "member_hour",
            Number(0, 1e9, "an amount of money such as 0.12"),
            "What a member costs for an hour.",
        ),
        Field(
            "cross_zone_gb",
            Number(0, 1e9, "an amount of money such as 0.02"),
            "What a gigabyte costs that crosses zones.",
        ),
        Field(
            "currency",
            Text("a currency such as EUR", max_length=8),
            "The money these are in.",
            default="EUR",
        ),
    ),
    "What things cost.",
)
PLAN = Section(
    "plan",
    (
        Field("title", Text(max_length=200), "One line that says what is asked."),
        Field("description", Text(), "More about it."),
        Field(
            "scenario",
            ListOf(Text("a scenario's file or name"), is_lenient=True, least=1),
            "What is varied: a scenario file beside this one, or a stock story's name.",
            is_required=True,
            example="scenario: scale-out",
        ),
        Field(
            "axes",
            MapOf(AxisKind(), _PATH, "axes", most=16),
            "What varies: a setting's path and its values.",
            is_required=True,
            example="axes: {group.members: [3, 6, 12]}",
        ),
        Field(
            "where",
            ListOf(Text("a condition such as session >= 3 * heartbeat"), is_lenient=True, most=64),
            "Conditions that a point must meet to be played.",
        ),
        Field(
            "set", MapOf(AnyScalar(), _PATH, "settings"), "What every point sets besides, by path."
        ),
        Field(
            "variants",
            ListOf(Text("a variant's name"), is_lenient=True, least=1, most=32),
            "Which variants are played.",
            default="the scenario's",
        ),
        Field("seeds", _SEEDS, "How many seeds each point is played with.", default="1"),
        Field(
            "samples",
            Whole(1, 100_000_000),
            "How many times the sampled axes are drawn.",
            default="100 where an axis is sampled",
        ),
        Field(
            "budgets",
            Raw("a block of limits on metrics", BUDGET_SHAPE),
            "What must be met, as in a scenario.",
            default="the scenario's",
        ),
        Field(
            "minimise",
            ListOf(
                Text("cost, members, an axis or a metric, e.g. p95 longest_pause"),
                is_lenient=True,
                least=1,
                most=8,
            ),
            "What to make small, the most important first.",
            default="cost, then longest_pause",
        ),
        Field("costs", _COSTS, "What things cost."),
        Field(
            "heat",
            ListOf(Text("an axis' name"), least=2, most=2),
            "The two axes of the heat map.",
            default="the first two",
        ),
        Field(
            "show",
            Text("verdict, settles or a metric"),
            "What the heat map shows first: verdict, settles (at once, slowly, never) or a metric.",
            default="the first metric that is to be made small",
        ),
        Field(
            "run_limit",
            Duration(1_000_000),
            "A run that takes longer than this on the clock is cut and reported.",
            default="1m",
        ),
    ),
    "A rebalsim plan: a family of scenarios and the question asked of it.",
)

FindBase = Callable[[str], Base]  # raises LookupError with a sentence


def parse_plan(text: str, file: str, find_base: FindBase, reserved: tuple[str, ...] = ()) -> Plan:
    """The plan that the text says. ProblemsError lists everything that is wrong with it."""
    source = Source(file, text)
    root, found = parse(text, source)
    out = Problems()
    out.items.extend(found)
    if root is None:
        out.raise_if_any()
        raise ProblemsError(
            (source.problem(1, 1, "The file is empty — a plan names a scenario and axes"),)
        )
    if (
        isinstance(root, Mapping)
        and "axes" not in root.entries
        and ("topics" in root.entries or "group" in root.entries)
    ):
        out.add(
            root,
            "This is a scenario, not a plan: it has no axes — `rebalsim run` plays it; a plan "
            "names it under scenario: and lists axes:",
        )
        out.raise_if_any()
    written = PLAN.read(root, out)
    if not isinstance(written, Written):
        out.raise_if_any()
        raise AssertionError("a block that was not read left no problem")
    return _Reader(written, file, text, out).plan(find_base, reserved)


_OBJECTIVE = re.compile(r"(?:p(?P<percent>\d{1,2}(?:\.\d+)?) +(?:of +)?)?(?P<name>[A-Za-z_][\w-]*)")


class _Reader:
    def __init__(self, written: Written, file: str, text: str, out: Problems) -> None:
        self.written, self.file, self.text, self.out = written, file, text, out

    def plan(self, find_base: FindBase, reserved: tuple[str, ...]) -> Plan:
        get = self.written.get
        bases = tuple(self._bases(find_base))
        axes = tuple(self._axes(reserved, len(bases) > 1))
        steps = tuple(a for a in axes if isinstance(a, Axis))
        sampled = tuple(a for a in axes if isinstance(a, SampledAxis))
        if "samples" in self.written and not sampled:
            what = "'samples' is how often sampled axes are drawn, and no axis has sample:"
            self.out.add(self.written.at["samples"], f"{what} — leave it out")
        seeds, settings = get("seeds"), get("set")
        budgets = self._budgets()
        kinds: dict[str, str] = {**{a.name: a.kind for a in axes}, "variant": "text"}
        if len(bases) > 1:
            kinds["scenario"] = "text"
        plan = Plan(
            title=get("title", ""),
            file=self.file,
            text=self.text,
            bases=bases,
            axes=steps,
            sampled=sampled,
            samples=get("samples", 100) if sampled else 1,
            where=self._where(kinds),
            settings=tuple((p, str(v)) for p, v in settings.values.items()) if settings else (),
            variants=get("variants", ()),
            first_seed=seeds.get("first", 1) if seeds else 1,
            seeds=seeds.get("count", 1) if seeds else 1,
            budgets=budgets,
            has_budgets="budgets" in self.written,
            objectives=tuple(self._objectives(kinds, "costs" in self.written)),
            costs=Costs(**get("costs").values) if "costs" in self.written else Costs(),
            heat=self._heat(steps),
            show=self._show(),
            run_limit_s=get("run_limit", 60_000_000) / 1e6,
            description=get("description", ""),
        )
        if not self.out.errors:
            self._check_size(plan)
        self.out.raise_if_any()
        return plan

    def _check_size(self, plan: Plan) -> None:
        if plan.points * plan.seeds <= MOST_RUNS:
            return
        seeds_too = f" × {plan.seeds:,} seeds" if plan.seeds > 1 else ""
        self.out.add(
            self.written.at["axes"],
            f"These axes make {plan.points:,} points{seeds_too}, more than the {MOST_RUNS:,} runs "
            "that a sweep will begin — list fewer values, or sample: the axes instead of crossing "
            "them",
        )

    def _bases(self, find_base: FindBase) -> Iterator[Base]:
        at = self.written.at.get("scenario")
        nodes = at.items if isinstance(at, Sequence) else [at] if at is not None else []
        seen: list[str] = []
        taken: list[str] = []
        for name, node in zip(self.written.get("scenario", ()), nodes):
            if name in seen:
                self.out.add(node, f"'{shorten(name)}' stands here a second time — remove one")
                continue
            seen.append(name)
            try:
                base = find_base(name)
                if base.name in taken:
                    self.out.add(
                        node,
                        f"Two scenarios would be called '{base.name}' in the tables — rename one "
                        "of the files",
                    )
                taken.append(base.name)
                yield base
            except LookupError as e:
                self.out.add(node, str(e.args[0]))

    def _axes(self, reserved: tuple[str, ...], has_bases: bool) -> Iterator[Axis | SampledAxis]:
        named = self.written.get("axes")
        taken: dict[str, Scalar] = {}
        for path, written in named.values.items() if named else ():
            key = named.node.keys[path]
            axis = axis_of(key, written, self.out)
            if axis is None:
                continue
            at = written.at.get("as", key)
            if axis.name in reserved and not (axis.name == "scenario" and not has_bases):
                what = f"'{axis.name}' is a column of the results already"
                self.out.add(at, f"{what} — give the axis another name with as:")
            elif axis.name in taken:
                line = taken[axis.name].line
                what = f"Two axes are called '{axis.name}' (the other on line {line})"
                self.out.add(at, f"{what} — give this one a name with as:")
            else:
                taken[axis.name] = key
                yield axis

    def _budgets(self) -> tuple[Budget, ...]:
        at = self.written.at.get("budgets")
        if at is None:
            return ()
        budgets = read_budgets(at, self.written.get("variants") or STOCK_VARIANTS, self.out)
        for budget in budgets:
            if budget.metric.replace("-", "_").replace(".", "_") not in METRICS:
                near = nearest_metric(budget.metric)
                self.out.items.append(
                    at.source.problem(
                        budget.line,
                        budget.column,
                        f"'{shorten(budget.metric)}' is no metric — "
                        + (
                            f"did you mean '{near}'?"
                            if near
                            else "`rebalsim explain metrics` lists them"
                        ),
                        len(budget.metric),
                    )
                )
        return budgets

    def _where(self, kinds: dict[str, str]) -> tuple[str, ...]:
        at = self.written.at.get("where")
        nodes: list[Any] = at.items if isinstance(at, Sequence) else [at]
        for text, node in zip(self.written.get("where", ()), nodes):
            try:
                parse_condition(text, kinds)
            except ConditionError as e:
                where = (
                    node.column
                    + e.column
                    + (1 if isinstance(node, Scalar) and node.is_quoted else 0)
                )
                self.out.items.append(
                    node.source.problem(node.line, where, f"In this condition {e.message}", e.width)
                )
        return tuple(self.written.get("where", ()))

    def _objectives(self, kinds: dict[str, str], has_costs: bool) -> Iterator[Objective]:
        at = self.written.at.get("minimise")
        nodes: list[Any] = at.items if isinstance(at, Sequence) else [at]
        numbers = [name for name, kind in kinds.items() if kind != "text"]
        if at is None:
            for usual in ("cost" if has_costs else "consumers", "longest_pause"):
                yield Objective(usual, text=usual)
            return
        for text, node in zip(self.written.get("minimise", ()), nodes):
            yield from self._objective(text, node, numbers, has_costs)

    def _objective(
        self, text: str, node: Any, numbers: list[str], has_costs: bool
    ) -> Iterator[Objective]:
        found = _OBJECTIVE.fullmatch(text.strip())
        name = found["name"].replace("-", "_") if found else ""
        percent = float(found["percent"]) if found and found["percent"] else None
        if name == "cost" and not has_costs and percent is None:
            what = "'cost' is to be made small, and nothing costs anything"
            self.out.add(node, f"{what} — add costs: {{member_hour: 0.12}}")
        if name in METRICS:
            yield Objective(name, percent, text=text)
        elif percent is None and name in ("cost", "consumers", "members", *numbers):
            yield Objective("consumers" if name == "members" else name, text=text)
        else:
            near = nearest(name, (*numbers, *OBJECTIVES)) or nearest_metric(name)
            what_else = (
                f"did you mean '{near}'?"
                if near
                else f"there are {', '.join((*OBJECTIVES, *numbers))}, and the metrics of "
                "`rebalsim explain metrics`, such as p95 longest_pause"
            )
            what = f"'{shorten(text)}' is neither cost, members, an axis nor a metric"
            self.out.add(node, f"{what} — {what_else}")

    def _show(self) -> str:
        show: str = self.written.get("show", "")
        if show and show not in ("verdict", "settles", *METRICS):
            near = nearest(show, ("verdict", "settles")) or nearest_metric(show)
            self.out.add(
                self.written.at["show"],
                f"'{shorten(show)}' is neither verdict, settles nor a metric — "
                + (f"did you mean '{near}'?" if near else "write e.g. longest_pause"),
            )
        return show

    def _heat(self, axes: tuple[Axis, ...]) -> tuple[str, ...]:
        names = [a.name for a in axes]
        heat: tuple[str, ...] = self.written.get("heat", ())
        at = self.written.at.get("heat")
        for name, node in zip(heat, at.items if isinstance(at, Sequence) else []):
            if name not in names:
                self.out.add(
                    node,
                    f"'{shorten(name)}' is no axis with listed values — {or_nearest(name, names)}",
                )
        return heat or tuple([a.name for a in axes if len(a.steps) > 1][:2])


def problems_of_axis(
    plan: Plan, axis: Axis | SampledAxis, found: tuple[Problem, ...]
) -> ProblemsError:
    """What the base scenario says against an axis' value, told on the axis' line of the plan."""
    source = Source(plan.file, plan.text)
    return ProblemsError(
        tuple(source.problem(axis.line, axis.column, p.message, len(axis.name)) for p in found)
    )
