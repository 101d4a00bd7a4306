"""A preview's stories, each played over several seeds: a single run strikes at one moment between two
heartbeats, and a deploy does not choose its moment. Every figure is the middle one of the runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from rebalsim.advice.advise import Advisor
from rebalsim.advice.trial import WORK_OF_EVENT, beats_of
from rebalsim.analysis.analysis import Analysis
from rebalsim.check.one_story import StoryJudge
from rebalsim.domain.errors import Problem, ProblemsError
from rebalsim.domain.metrics import Selection
from rebalsim.domain.percentiles import percentile
from rebalsim.domain.remedy import Remedy
from rebalsim.domain.scenario import Scenario
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.scenario.story import Story
from rebalsim.worlds.rolls import AFTER
from rebalsim.worlds.to_scenario import Happening, playable, to_scenario
from rebalsim.worlds.understood import Understood

Limit = tuple[str, str, str]  # metric, limit, where it stands
SEEDS = (20, 10, 5)
SEEDS_OF_A_DAY = (10, 5)
FEW = 3  # within twice the events, and one alone where even these are too dear
EVENTS = 32_000  # of the deploy: a second or two
OF_A_DAY = 16_000  # of each of the two days that are told beside it, before and after: a second
ADVICE_EVENTS = 120_000
MOST_ADVICE = 3
SINCE_US = (AFTER - 1) * 1_000_000  # what is told begins with what happens, not with the start


@dataclass(slots=True)
class Runs:
    """One story over its seeds, and what each measured."""

    story: Story
    metrics: tuple[str, ...]
    seeds: tuple[int, ...] = ()
    values: dict[str, list[float | None]] = field(default_factory=dict)
    judge: StoryJudge | None = None
    analyses: dict[int, Analysis] = field(default_factory=dict)  # by seed
    window: Selection = Selection(from_us=SINCE_US)  # what is measured

    def within(self, from_us: int, until_us: int | None = None) -> Runs:
        """What a part of the same runs measured."""
        window = Selection(from_us=from_us, until_us=until_us)
        part = Runs(self.story, self.metrics, self.seeds, window=window)
        for seed, analysis in self.analyses.items():
            _keep(part, seed, analysis)
        return part

    def middle(self, metric: str) -> float | None:
        """The value that half of the runs do not exceed; None where a run could not tell."""
        return self._at(50, metric)

    def worst(self, metric: str) -> float | None:
        return self._at(100, metric)

    def _at(self, percent: float, metric: str) -> float | None:
        found = self.values[metric]
        known = sorted(value for value in found if value is not None)
        return percentile(known, percent) if len(known) == len(found) else None

    def typical(self, metric: str) -> Analysis:
        """A run in which a metric is the middle one: what is told of it is no freak."""
        middle = self.middle(metric)
        found = self.values[metric]
        return self.analyses[self.seeds[found.index(middle)] if middle in found else self.seeds[0]]

    def remedies(self, events: int) -> tuple[Remedy, ...]:
        """What helps in this story, tried within so many events; what was played anyway is used."""
        advisor, variant = Advisor(self.story, events), self.story.variants[0]
        for seed, analysis in self.analyses.items():
            advisor.saw(variant, seed, analysis)
        return advisor.remedies(most=MOST_ADVICE)[variant]


def played(
    made: Understood,
    name: str,
    happening: Happening,
    metrics: tuple[str, ...],
    limits: list[Limit] | None = None,
    like: Runs | None = None,
    is_of_a_day: bool = False,
) -> Runs:
    """The story of these files, played over as many seeds as the events allow; with the verdicts on
    `limits`, if any are given. `like`: of other files, which may say the same: then these runs
    serve. `is_of_a_day`: it is told beside the deploy, and no verdict hangs on it.
    """
    text = playable(to_scenario(made, happening, [])) + _budget_lines(limits or [])
    try:
        story = story_of(text.encode(), f"the story of {name}").check()
    except ProblemsError as e:
        lines = text.splitlines()
        raise ProblemsError(tuple([_where_written(p, lines) for p in e.problems])) from None
    scenario = story.scenario()
    if like is not None and _is_same(scenario, like.story.scenario()):
        return like
    first = run_once(scenario, story.seed).analysis
    cost = first.trace.work // WORK_OF_EVENT + beats_of(scenario)
    events, numbers = (OF_A_DAY, SEEDS_OF_A_DAY) if is_of_a_day else (EVENTS, SEEDS)
    number = _seeds_within(cost, events, numbers)
    if like is not None:
        number = min(number, len(like.seeds))  # more would tell nothing beside those
    runs = Runs(story, metrics, tuple(range(story.seed, story.seed + number)))
    runs.judge = StoryJudge(story, runs=number) if limits is not None else None
    for seed in runs.seeds:
        _keep(runs, seed, first if seed == story.seed else run_once(scenario, seed).analysis)
    if runs.judge is not None and (problems := runs.judge.problems()):
        raise ProblemsError(problems)
    return runs


def _seeds_within(cost: int, events: int, numbers: tuple[int, ...]) -> int:
    fewest = FEW if FEW * cost <= 2 * events else 1
    return next((n for n in numbers if n * cost <= events), fewest)


_WRITTEN = re.compile(r"  - \w+: \".*\"  # (.+?):(\d+)(?::.*)?$")


def _where_written(problem: Problem, lines: list[str]) -> Problem:
    """What is wrong with a budget, where the budget was written: the story is in no file."""
    source = lines[problem.line - 1] if 0 < problem.line <= len(lines) else ""
    spot = _WRITTEN.match(source)
    if spot is None:
        return problem
    said = source[4 : source.rindex("  # ")]
    return replace(problem, file=spot[1], line=int(spot[2]), column=1, source=said, width=len(said))


def _is_same(one: Scenario, other: Scenario) -> bool:
    """Whether the two are played alike, in whatever files they are written."""
    return replace(one, file="", digest="") == replace(other, file="", digest="")


def _keep(runs: Runs, seed: int, one: Analysis) -> None:
    runs.analyses[seed] = one
    for metric in runs.metrics:
        runs.values.setdefault(metric, []).append(one.measure(metric, runs.window))
    if runs.judge is not None:
        runs.judge.add(runs.story.variants[0], seed, one)


def _budget_lines(limits: list[Limit]) -> str:
    """Budgets as they were written: the story begins settled, so that a start is no part of it."""
    if not limits:
        return ""
    lines = ["", "budgets:"]
    for metric, limit, where in limits:
        lines.append(f'  - {metric_named(metric)}: "{limit}"  # {where}')
    return "\n".join(lines) + "\n"


def metric_named(written: str) -> str:
    """A metric as an annotation writes it, with hyphens, in its own name."""
    return re.sub(r"[^a-z0-9_]", "", written.replace("-", "_"))
