"""The smallest change of a story with which its budgets are kept: the causes' own remedies first,
then single settings from coarse to fine, then pairs, within a number of events.

A change is taken only if it keeps the budgets at the 95th percentile over seeds (or at their own), and when the
script's faults strike up to a heartbeat and up to a second elsewhere: what hangs on the moment is
a knife's edge. Changes are ranked by how far they turn each setting, and by their price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import gt
from typing import Any

from rebalsim.advice.advise import Asked, asked_of
from rebalsim.advice.case import Case, both
from rebalsim.advice.judging import MINDED, is_less
from rebalsim.advice.ladders import application_of, keys_for, steps
from rebalsim.advice.proposals import proposals
from rebalsim.advice.size import cost_of_change
from rebalsim.advice.trial import (
    ACTED,
    VETOES,
    OutOfEvents,
    Purse,
    changed_story,
    cost_of,
    measured,
    of_action,
)
from rebalsim.advice.tried import Choice, Found, Key, RunSaid, Tried, percent_of
from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.judge import judge_run, measure_budget
from rebalsim.domain.budget import Budget, Level
from rebalsim.domain.percentiles import rank_of
from rebalsim.domain.remedy import HEADLINES_OF_ADVICE, Patch
from rebalsim.domain.scenario import Scenario, everybody_in
from rebalsim.domain.script import (
    BrokerRestart,
    Crash,
    Cut,
    Delay,
    Failover,
    Freeze,
    Hang,
    Poison,
    Slow,
)
from rebalsim.domain.verdict import Outcome
from rebalsim.one_run import run_once
from rebalsim.reports.answer_choice import rank_of_change
from rebalsim.scenario.story import Story

DEFAULT_EVENTS = 800_000
SEEDS = 20
MOST_NODES = 3  # changes that are gone on from, where they help but not enough
MOST_PAIRED = 6
ENOUGH = 5  # changes that keep the budgets, after which no pairs are tried
FAULTS = (BrokerRestart, Crash, Cut, Delay, Failover, Freeze, Hang, Poison, Slow)
SHIFTS_US = (-1_000_000, -500_000, 500_000, 1_000_000)


class Search:
    """Plays changes of a story's variants until the events are spent or all is tried."""

    def __init__(
        self,
        story: Story,
        variants: Sequence[str],
        events: int = DEFAULT_EVENTS,
        over: Sequence[str] = (),
        seeds: int = SEEDS,
        known: dict[str, RunSaid] | None = None,
        note: Callable[[str, RunSaid], None] = lambda key, run: None,
        step: Callable[[str, int], None] = lambda what, done: None,
        watch: Callable[[int], None] | None = None,
    ) -> None:
        """`known`: runs of an earlier search, by key; `note` is handed each new one; `step` is
        told what is under way and how many events were played; `watch` what each run cost.
        """
        self.story = story
        self.variants = tuple(variants)
        self.over = tuple(over)
        self.seeds = seeds
        self.events = events
        self.purse = Purse(events, watch)
        self.known = known or {}
        self.note = note
        self.step = step
        self.budgets = {v: budgets_of(story, v) for v in self.variants}
        self.actions: dict[str, tuple[str, ...]] = {}
        self._analyses: dict[Key, Analysis] = {}
        self._seen: dict[Key, Tried | None] = {}
        self._confirmed: set[Key] = set()
        self.found = Found([])

    def run(self) -> Found:
        """The whole search."""
        try:
            self._all()
        except OutOfEvents:
            self.found.is_spent = True
        self.found.events = self.events - self.purse.left
        self.found.choices = self._kept_small()
        return self.found

    def _all(self) -> None:
        found = self.found
        for variant in self.variants:
            tried = Tried(variant, Patch((), ()), self.story, budgets=self.budgets[variant])
            found.as_it_is.append(tried)
            self._play(tried, self.story.seed)
            found.all_tried.append(tried)
        for tried in found.as_it_is:
            self.step(f"as it is: {tried.variant}", self.events - self.purse.left)
            self._confirm(tried)
        if any(choice.tried in found.as_it_is for choice in found.choices):
            return  # nothing need be changed
        for tried in found.as_it_is:
            self.step(f"what helps {tried.variant}", self.events - self.purse.left)
            self._causes(tried)
        for tried in found.as_it_is:
            self.step(f"single settings of {tried.variant}", self.events - self.purse.left)
            self._singles(tried)
        if len(found.choices) < ENOUGH:
            for tried in found.as_it_is:
                self.step(f"pairs of settings of {tried.variant}", self.events - self.purse.left)
                self._pairs(tried)

    # ------------------------------------------------------------------------------ three ways to look

    def _causes(self, root: Tried) -> None:
        """What the causes themselves propose; and upon what helps but not enough, again."""
        level = [root]
        for _ in range(2):
            found = [t for node in level for t in self._children(node)]
            found.sort(key=lambda t: (t.score, t.size))
            for tried in found:
                if tried.score == 0:
                    self._confirm(tried)
            if any(choice.tried.variant == root.variant for choice in self.found.choices):
                return
            level = [t for t in found if 0 < t.score < root.score][:MOST_NODES]

    def _children(self, node: Tried) -> Iterator[Tried]:
        for case, _, _ in self._asked(node):
            for patch in proposals(case):
                whole = _upon(node.patch, patch)
                tried = None if whole is None else self._try(node.variant, whole)
                if tried is not None and self._is_for(case, patch, node, tried):
                    yield tried

    def _is_for(self, case: Case, patch: Patch, node: Tried, tried: Tried) -> bool:
        """A deploy's pace is changed for what the deploy does; that it then comes by when
        something else happens is luck.
        """
        if not patch.script or not case.action:
            return True
        seed = (self.story.seed, 0)
        before, after = node.runs[seed].figures, tried.runs[seed].figures
        return any(is_less(name, after, before) for name in of_action(case.action))

    def _asked(self, node: Tried) -> list[Asked]:
        analysis = self._analysis(node)
        return asked_of(node.story, node.variant, analysis, self.budgets[node.variant])

    def _singles(self, root: Tried) -> None:
        """Each setting's ladder, every second step first, then those beside the best one."""
        if next(everybody_in(root.story.scenario(root.variant)), None) is None:
            return
        case, consumer = self._case(root)
        for key in self.over or keys_for(consumer, application_of(case, consumer)):
            patches = steps(case, consumer, key)
            coarse = {place: self._try(root.variant, patches[place]) for place in _coarse(patches)}
            best = min(
                (p for p, t in coarse.items() if t is not None),
                key=lambda p: (coarse[p].score, coarse[p].size),  # type: ignore[union-attr]
                default=None,
            )
            fine = [] if best is None else [best - 1, best + 1]
            beside = [
                self._try(root.variant, patches[p])
                for p in fine
                if 0 <= p < len(patches) and p not in coarse
            ]
            for tried in (*coarse.values(), *beside):
                if tried is not None and tried.score == 0:
                    self._confirm(tried)

    def _pairs(self, root: Tried) -> None:
        """Two of the singles that help most, of different settings."""
        helping = sorted(
            (
                t
                for t in self.found.all_tried
                if t.variant == root.variant
                and len(t.patch.turns) == 1
                and not t.patch.script
                and t.score < root.score
            ),
            key=lambda t: (t.score, t.size),
        )[:MOST_PAIRED]
        for n, one in enumerate(helping):
            for other in helping[n + 1 :]:
                whole = _upon(one.patch, other.patch)
                if whole is None:
                    continue
                tried = self._try(root.variant, whole)
                if tried is not None and tried.score == 0:
                    self._confirm(tried)

    # ------------------------------------------------------------------------------------- playing

    def _try(self, variant: str, patch: Patch) -> Tried | None:
        """The change with the story's own seed; None where it makes no story."""
        key = (variant, tuple(sorted(patch.sets)))
        if patch.variant:
            return None
        if key in self._seen:
            return self._seen[key]
        self._seen[key] = None
        story = changed_story(self.story, variant, patch)
        if story is None:
            return None
        tried = Tried(variant, patch, story, budgets=self.budgets[variant])
        run = self._play(tried, self.story.seed)
        root = next(t for t in self.found.as_it_is if t.variant == variant)
        before = root.runs[self.story.seed, 0].figures
        if run.figures[ACTED] < before[ACTED] or any(
            run.figures.get(name, 0) > before.get(name, 0) for name in VETOES
        ):
            return None  # it puts some of the story off beyond the horizon, or leaves it undone
        self.found.all_tried.append(tried)
        self._seen[key] = tried
        return tried

    def _play(self, tried: Tried, seed: int, shift_us: int = 0) -> RunSaid:
        if (seed, shift_us) in tried.runs:
            return tried.runs[seed, shift_us]
        if self.purse.left <= 0:
            raise OutOfEvents
        key = "|".join((tried.variant, *tried.patch.overrides, str(seed), str(shift_us)))
        run = self.known.get(key)
        if run is None:
            scenario = shifted(tried.story.scenario(tried.variant), shift_us)
            with self.purse.bound():
                analysis: Analysis = run_once(scenario, seed).analysis
            actions, cost = self._actions(tried, analysis), cost_of(scenario, analysis)
            run = said_of(analysis, self.budgets[tried.variant], cost, actions)
            self.note(key, run)
        self.purse.pay(run.events)
        tried.runs[seed, shift_us] = run
        return run

    def _actions(self, tried: Tried, analysis: Analysis) -> tuple[str, ...]:
        """The script's actions that stand partitions still, as the story is."""
        if tried.variant not in self.actions:
            self.actions[tried.variant] = tuple(
                sorted({d.action for d in analysis.disturbances if d.action})
                + sorted({p.cause.action for p in analysis.pauses if p.cause.action})
            )
        return self.actions[tried.variant]

    def _confirm(self, tried: Tried) -> None:
        """Whether it holds over seeds, and wherever the faults strike."""
        if tried.key in self._confirmed:
            return
        self._confirmed.add(tried.key)
        first = self.story.seed
        allowed = [self.seeds - rank_of(percent_of(b), self.seeds) for b in tried.budgets]
        missed = [0] * len(allowed)
        for seed in range(first, first + self.seeds):
            beyond = self._play(tried, seed).beyond
            missed = [count + (by > 0) for count, by in zip(missed, beyond)]
            if tried.patch.sets and any(map(gt, missed, allowed)):
                return
        if any(map(gt, missed, allowed)):
            return
        scenario = tried.story.scenario(tried.variant)
        for shift_us in shifts_of(scenario):
            if any(self._play(tried, first, shift_us).beyond):
                self.found.edges.append(tried)
                return
        root = next(t for t in self.found.as_it_is if t.variant == tried.variant)
        for seed in range(first, first + self.seeds):
            self._play(root, seed)
        before, after = root.middle(), tried.middle()
        price = tuple(name for name in HEADLINES_OF_ADVICE if is_less(name, before, after))
        cost = cost_of_change(tried.patch, before, after, price)
        self.found.choices.append(Choice(tried, price, cost))

    def _kept_small(self) -> list[Choice]:
        """Without those that do all that another one does, and more; in the order in which an
        answer takes one.
        """
        ordered = sorted(
            self.found.choices,
            key=lambda c: (rank_of_change(c.cost, c.tried.middle()), c.tried.patch.sets),
        )
        found: list[Choice] = []
        for choice in ordered:
            mine = set(choice.tried.patch.sets)
            if not any(
                other.tried.variant == choice.tried.variant and set(other.tried.patch.sets) <= mine
                for other in found
            ):
                found.append(choice)
        return found

    def _analysis(self, node: Tried) -> Analysis:
        if node.key not in self._analyses:
            self._analyses[node.key] = analysis_of(node)
        return self._analyses[node.key]

    def _case(self, root: Tried) -> tuple[Case, Any]:
        scenario = root.story.scenario(root.variant)
        consumer = next(iter(everybody_in(scenario)))
        return Case(root.story, root.variant, scenario, self._analysis(root)), consumer


def analysis_of(tried: Tried) -> Analysis:
    """Its run with the story's own seed."""
    analysis: Analysis = run_once(tried.story.scenario(tried.variant), tried.story.seed).analysis
    return analysis


def budgets_of(story: Story, variant: str) -> tuple[Budget, ...]:
    """The budgets that a search can judge: absolute ones, of this variant."""
    return tuple(
        b
        for b in story.budgets
        if not b.relative_to and b.variant in ("", variant) and b.level == Level.ERROR
    )


def said_of(
    analysis: Analysis, budgets: Iterable[Budget], cost: int, actions: Iterable[str] = ()
) -> RunSaid:
    """What one run says, which cost so many events."""
    beyond: list[float] = []
    undecided = []
    for place, budget in enumerate(budgets):
        verdict = judge_run(budget, measure_budget(analysis, budget))
        if verdict.outcome is Outcome.PASS:
            beyond.append(0.0)
        else:
            if verdict.outcome is Outcome.INCONCLUSIVE:
                undecided.append(place)
            least = abs(verdict.limit or 0.0) or MINDED.get(budget.metric, 1.0)
            beyond.append(max(verdict.excess / least, 1e-6))
    figures = measured(analysis, budgets, actions)
    return RunSaid(figures, tuple(beyond), cost, tuple(undecided))


def shifts_of(scenario: Scenario) -> tuple[int, ...]:
    """Where else the faults may strike: up to a second and up to a heartbeat before and after."""
    if not any(isinstance(a.deed, FAULTS) for a in scenario.script):
        return ()
    beat = max((c.config.heartbeat_interval_us for c in everybody_in(scenario)), default=0)
    return tuple(sorted({*SHIFTS_US, -beat, beat, beat // 2, -beat // 2} - {0}))


def shifted(scenario: Scenario, by_us: int) -> Scenario:
    """The scenario with its faults that much later, and all else where it was."""
    if not by_us:
        return scenario
    script = tuple(
        replace(action, at_us=max(0, action.at_us + by_us))
        if isinstance(action.deed, FAULTS) and action.has_moment
        else action
        for action in scenario.script
    )
    return replace(scenario, script=script)


def _upon(one: Patch, other: Patch) -> Patch | None:
    """Both, where they turn different things."""
    if not one.sets:
        return other
    if {path for path, _ in one.sets} & {path for path, _ in other.sets}:
        return None
    made = both(one, other)
    return (
        None if made is None or other.variant else replace(made, script=one.script or other.script)
    )


def _coarse(patches: Sequence[Patch]) -> range:
    return range(0, len(patches), 2)
