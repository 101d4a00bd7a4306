"""A preview's stories, each played over several seeds: a single run strikes at one moment between two
heartbeats, and a deploy does not choose its moment. Every figure is the middle one of the runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rebalsim.advice.trial import cost_of
from rebalsim.analysis.analysis import Analysis
from rebalsim.check.one_story import StoryJudge
from rebalsim.domain.errors import ProblemsError
from rebalsim.domain.metrics import Selection, percentile
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.scenario.story import Story
from rebalsim.worlds.to_scenario import Happening, playable, to_scenario
from rebalsim.worlds.understood import Understood

Limit = tuple[str, str, str]  # metric, limit, where it stands
SEEDS = (20, 10, 5, 1)
EVENTS = 60_000  # a story: some tenths of a second, so that a pull request is answered in three


@dataclass(slots=True)
class Runs:
    """One story over its seeds: what each measured in each window of interest."""

    story: Story
    windows: tuple[Selection, ...]
    metrics: tuple[str, ...]
    seeds: tuple[int, ...] = ()
    values: dict[tuple[int, str], list[float | None]] = field(default_factory=dict)
    judge: StoryJudge | None = None
    _analyses: dict[int, Analysis] = field(default_factory=dict)

    def middle(self, metric: str, window: int = 0) -> float | None:
        """The value that half of the runs do not exceed; None where a run could not tell."""
        return self._at(50, metric, window)

    def worst(self, metric: str, window: int = 0) -> float | None:
        return self._at(100, metric, window)

    def _at(self, percent: float, metric: str, window: int) -> float | None:
        found = self.values[window, metric]
        known = sorted(value for value in found if value is not None)
        return percentile(known, percent) if len(known) == len(found) else None

    def typical(self, metric: str) -> Analysis:
        """A run in which a metric is the middle one: what is told of it is no freak."""
        middle = self.middle(metric)
        found = self.values[0, metric]
        seed = self.seeds[found.index(middle)] if middle in found else self.seeds[0]
        if seed not in self._analyses:
            self._analyses[seed] = run_once(self.story.scenario(), seed).analysis
        return self._analyses[seed]


def played(
    made: Understood,
    name: str,
    happening: Happening,
    windows: tuple[Selection, ...],
    metrics: tuple[str, ...],
    limits: list[Limit] | None = None,
) -> Runs:
    """The story of these files, played; with the verdicts on `limits`, if any are given."""
    text = playable(to_scenario(made, happening, []))
    story = story_of((text + _budget_lines(limits or [])).encode(), f"the story of {name}").check()
    first = run_once(story.scenario(), story.seed).analysis
    cost = max(1, cost_of(story.scenario(), first))
    number = next((n for n in SEEDS if n * cost <= EVENTS), 1)
    runs = Runs(story, windows, metrics, tuple(range(story.seed, story.seed + number)))
    runs.judge = StoryJudge(story, runs=number) if limits is not None else None
    runs._analyses[story.seed] = first
    for seed in runs.seeds:
        one = first if seed == story.seed else run_once(story.scenario(), seed).analysis
        _keep(runs, seed, one)
    if runs.judge is not None and (problems := runs.judge.problems()):
        raise ProblemsError(problems)
    return runs


def _keep(runs: Runs, seed: int, one: Analysis) -> None:
    for number, window in enumerate(runs.windows):
        for metric in runs.metrics:
            runs.values.setdefault((number, metric), []).append(one.measure(metric, window))
    if runs.judge is not None:
        runs.judge.add(runs.story.variants[0], seed, one)


def _budget_lines(limits: list[Limit]) -> str:
    """Budgets as they were written: the story begins settled, so that a start is no part of it."""
    if not limits:
        return ""
    lines = ["", "budgets:"]
    for metric, limit, where in limits:
        name = re.sub(r"[^a-z0-9_]", "", metric.replace("-", "_"))
        lines.append(f'  - {name}: "{limit}"  # {where}')
    return "\n".join(lines) + "\n"
