"""Plays a story, as it is and changed, and counts the events: trying is budgeted in these, never in
seconds, so that the same input gives the same bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.baseline import key_of
from rebalsim.analysis.judge import judge_run, measure_budget
from rebalsim.domain.budget import Budget
from rebalsim.domain.errors import ProblemsError
from rebalsim.domain.mark_kind import MarkKind
from rebalsim.domain.metrics import Selection
from rebalsim.domain.percentiles import percentile
from rebalsim.domain.remedy import HEADLINES_OF_ADVICE, Patch
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.verdict import Outcome
from rebalsim.one_run import run_once
from rebalsim.scenario.story import Story
from rebalsim.simulation.work_limit import TooMuchWork, at_most

# What no advice may make worse at all, and what shows that a run is no longer the same story.
VETOES = ("open_pauses", "unsettled", "skipped")
SEEDS = (20, 10, 5)  # as many as there are events for; tried on fewer, nothing is said
OF_PAUSES = ("longest_pause", "partition_seconds")
KEPT = "kept"  # 1 where every budget is kept for certain
ACTED = "acted"  # how many actions of the script took place
WORK_OF_EVENT = 5  # entries of the engine's queue that count as an event: some 50 us
Figures = Mapping[str, float]


class OutOfEvents(Exception):
    """Nothing more can be tried within the budget."""


@dataclass(slots=True)
class Purse:
    """The events that may still be played."""

    left: int
    watch: Callable[[int], None] | None = None  # is told what was paid

    def pay(self, events: int) -> None:
        self.left -= events
        if self.watch is not None:
            self.watch(events)

    @contextmanager
    def bound(self) -> Iterator[None]:
        """What is played meanwhile is given up where it costs more than is left."""
        try:
            with at_most(WORK_OF_EVENT * max(0, self.left)):
                yield
        except TooMuchWork:
            self.pay(max(0, self.left))
            raise OutOfEvents from None


def of_action(action: str) -> tuple[str, str]:
    """Among the figures: what an action of the script set off."""
    return f"longest_pause of {action}", f"partition_seconds of {action}"


def measured(
    analysis: Analysis, budgets: Iterable[Budget] = (), actions: Iterable[str] = ()
) -> dict[str, float]:
    """What one run says to all that advice is judged by. A budget's metric over its selection
    goes by the budget's key.
    """
    found = {}
    could_pause = bool(analysis.lanes or analysis.worker_groups)  # somebody had something
    for name in (*HEADLINES_OF_ADVICE, *VETOES):
        value = analysis.measure(name)
        if value is not None and (could_pause or name not in OF_PAUSES):
            found[name] = float(value)
    found[KEPT] = 1.0
    for budget in budgets:
        told = measure_budget(analysis, budget)
        if told.value is None:
            found.pop(key_of(budget), None)  # nothing was measured, whatever the figure
        else:
            found[key_of(budget)] = float(told.value)
        if judge_run(budget, told).outcome is not Outcome.PASS:
            found[KEPT] = 0.0  # broken, or still open
    of_tasks = ("longest_task_pause", "task_seconds")  # of Kafka Connect, they are what counts
    metrics = of_tasks if analysis.worker_groups else ("longest_pause", "partition_seconds")
    for action in actions:
        for name, metric in zip(of_action(action), metrics):
            found[name] = float(analysis.measure(metric, Selection(action=action)) or 0)
    found[ACTED] = float(sum(mark.kind is not MarkKind.REBALANCE for mark in analysis.marks))
    return found


def cost_of(scenario: Scenario, analysis: Analysis) -> int:
    """What a run costs, in events, or what takes as long: polls and fetches tell next to nothing."""
    work = analysis.trace.work // WORK_OF_EVENT
    return max(len(analysis.trace.events), work) + beats_of(scenario)


def beats_of(scenario: Scenario) -> int:
    """What else is played of Connect's workers, which beat all the time, where other members' beats
    are skipped while nothing happens: sent, answered, and minded.
    """
    return sum(
        3 * scenario.horizon_us // c.config.heartbeat_interval_us
        for group in scenario.groups
        for c in group.consumers
        if c.worker is not None
    )


@dataclass(slots=True)
class Played:
    """The runs of one variant of one story, changed or not."""

    story: Story
    variant: str
    budgets: tuple[Budget, ...] = ()
    actions: tuple[str, ...] = ()  # what these set off is measured apart
    is_all_budgeted: bool = False  # `budgets` are all that is asked of it
    figures: dict[int, Figures] = field(default_factory=dict)  # by seed
    costs: dict[int, int] = field(default_factory=dict)  # events, by seed
    paid: set[int] = field(default_factory=set)  # the seeds that were paid for
    changes: dict[tuple[str, tuple[str, ...]], Played | None] = field(default_factory=dict)

    def keep(self, seed: int, analysis: Analysis) -> None:
        """A run that somebody has played anyway."""
        self.figures[seed] = measured(analysis, self.budgets, self.actions)
        self.costs[seed] = cost_of(self.scenario, analysis)

    def play(self, seed: int, purse: Purse) -> Figures:
        """This seed's figures. Raises OutOfEvents where there is nothing left to pay with. What
        somebody played anyway costs as much, so that whoever asks is told the same.
        """
        if seed not in self.paid:
            if purse.left <= 0:
                raise OutOfEvents
            if seed not in self.figures:
                with purse.bound():
                    self.keep(seed, run_once(self.scenario, seed).analysis)
            purse.pay(self.costs[seed])
            self.paid.add(seed)
        return self.figures[seed]

    def price_of(self, seeds: Iterable[int]) -> int:
        """What playing these costs, as far as one can know: as much as the dearest until now."""
        first = max((self.costs[seed] for seed in self.paid), default=0)
        return first * sum(seed not in self.paid for seed in seeds)

    @property
    def scenario(self) -> Scenario:
        return self.story.scenario(self.variant)

    def over(self, seeds: Iterable[int], percent: float = 50) -> dict[str, float]:
        """Each metric at that percentile of these seeds, where every run could tell it."""
        runs = [self.figures[seed] for seed in seeds]
        names = [name for name in runs[0] if all(name in run for run in runs)]
        return {
            name: percentile(sorted(run[name] for run in runs), percent) or 0.0 for name in names
        }


def changed_story(story: Story, variant: str, patch: Patch) -> Story | None:
    """The story with the patch; None where that is none, or plays as before in this variant."""
    try:
        made = story.with_overrides(patch.overrides).check()
        before, after = story.scenario(variant), made.scenario(patch.variant or variant)
    except ProblemsError:
        return None
    is_same = (after.cluster, after.groups, after.script) == (
        before.cluster,
        before.groups,
        before.script,
    )
    return None if is_same else made


def changed(played: Played, patch: Patch) -> Played | None:
    """The same story with the patch alone; None where that makes no story, or the very same. What
    is proposed for several pauses is one change, and its runs are played once.
    """
    key = (patch.variant, patch.overrides)
    if key not in played.changes:
        variant = patch.variant or played.variant
        story = changed_story(played.story, played.variant, patch)
        played.changes[key] = (
            None
            if story is None
            else Played(story, variant, played.budgets, played.actions, played.is_all_budgeted)
        )
    return played.changes[key]


def seeds_for(before: Played, after: Played, purse: Purse) -> tuple[int, ...]:
    """As many of the story's seeds as can be paid for, of both. Raises OutOfEvents where that is not
    even the least number.
    """
    first = before.story.seed
    for number in SEEDS:
        seeds = tuple(range(first, first + number))
        if before.price_of(seeds) + after.price_of(seeds) <= purse.left:
            return seeds
    raise OutOfEvents


def over_seeds(before: Played, after: Played, purse: Purse) -> tuple[int, ...]:
    """Plays both over as many of the story's seeds as can be paid for, and says which these are.
    Raises OutOfEvents where that is not even the least number.
    """
    seeds = seeds_for(before, after, purse)
    for seed in seeds:
        before.play(seed, purse)
        after.play(seed, purse)
    return seeds
