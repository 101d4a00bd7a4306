"""The smallest change of a story with which its budgets are kept: the causes' own remedies first,
then single settings from coarse to fine, then pairs, within a number of events.

A change is taken only if it keeps the budgets at the 95th percentile over seeds (or at their own), and when the
script's faults strike up to a heartbeat and up to a second elsewhere: what hangs on the moment is
a knife's edge. Changes are ranked by how far they turn each setting, and by their price. A change
costs at least as much as it turns: what turns further than another one costs is not its equal, and
is played only after all variants' smaller ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from operator import gt
from typing import Any

from rebalsim.advice.advise import asked_of
from rebalsim.advice.case import Asked, Case
from rebalsim.advice.case import both as as_one
from rebalsim.advice.judging import NOTICED_FROM, is_less
from rebalsim.advice.ladders import application_of, keys_for, steps
from rebalsim.advice.proposals import proposals
from rebalsim.advice.shifts import shifted, shifts_of
from rebalsim.advice.size import cost_of_change, size_of
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
from rebalsim.domain.scenario import everybody_in
from rebalsim.domain.verdict import Outcome
from rebalsim.one_run import run_once
from rebalsim.reports.answer_choice import rank_of_change
from rebalsim.scenario.story import Story

DEFAULT_EVENTS = 700_000
SEEDS = 20
FEW_SEEDS = 5  # tell how the story is as it is well enough to go on searching
MOST_NODES = 3  # changes that are gone on from, where they help but not enough
MOST_PAIRED = 6
ENOUGH = 5  # changes that keep the budgets, after which no pairs are tried


def _always(tried: Tried) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change that may be tried in a variant."""

    variant: str
    patch: Patch
    is_for: Callable[[Tried], bool] = _always  # whether it is no luck that it helps

    @property
    def size(self) -> float:
        """What it costs at least."""
        return size_of(self.patch)


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
        self._waiting: list[Candidate] = []  # not tried, the smallest first
        self._keepers: list[Tried] = []  # keep the budgets with the story's own seed
        self.found = Found([], seeds=seeds)

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
        self._tell("as it is")
        for tried in found.as_it_is:
            self._confirm(tried)
        if any(choice.tried in found.as_it_is for choice in found.choices):
            return  # nothing need be changed
        self._tell("what the causes propose")
        self._go_through([c for root in found.as_it_is for c in self._of_causes(root)])
        self._go_through([c for root in found.as_it_is for c in self._upon_what_helps(root)])
        self._tell("single settings")
        self._singles()
        self._tell("pairs of settings")
        self._go_through([c for root in found.as_it_is for c in self._pairs(root)])
        found.is_settled = bool(found.choices)
        self._tell("what else keeps them")
        self._play_as_it_is()
        self._others()

    def _tell(self, what: str) -> None:
        self.step(what, self.events - self.purse.left)

    # ------------------------------------------------------------------------------- what comes next

    def _go_through(self, candidates: Iterable[Candidate]) -> None:
        """Tries and holds what can still be the first choice: the smallest before the others, the
        cheapest to play among equals. What turns further than the first choice costs waits.
        """
        order = {
            root.variant: (root.runs[self.story.seed, 0].events, place)
            for place, root in enumerate(self.found.as_it_is)
        }
        self._waiting = sorted(
            (*self._waiting, *candidates), key=lambda c: (c.size, order[c.variant])
        )
        while self._one_more(self._most()):
            pass

    def _one_more(self, most: float) -> bool:
        """Tries the next candidate that costs no more than that, or else holds the best of those
        that keep the budgets with the story's own seed; whether there was any.
        """
        if self._waiting and self._waiting[0].size <= most:
            self._look_at(self._waiting.pop(0))
            return True
        best = min(self._keepers, key=self._rank_until_now, default=None)
        if best is None or self._cost_until_now(best) > most:
            return False
        self._keepers.remove(best)
        self._confirm(best)
        return True

    def _most(self) -> float:
        """What a change may cost at most to be the first choice, as far as one knows."""
        if self.found.choices:
            return min(choice.cost for choice in self.found.choices)
        return min(map(self._cost_until_now, self._keepers), default=math.inf)

    def _look_at(self, candidate: Candidate) -> None:
        tried = self._try(candidate.variant, candidate.patch)
        if tried is None or tried.score or not candidate.is_for(tried):
            return
        if tried.key not in self._confirmed and tried not in self._keepers:
            self._keepers.append(tried)

    def _play_as_it_is(self) -> None:
        """All that changes are held against over every seed, what leads first."""
        first = self.story.seed
        for root in sorted(self.found.as_it_is, key=lambda root: not self._has_choice(root)):
            self._play_over(root, range(first, first + self.seeds))
        self._price_again()

    def _price_again(self) -> None:
        """More is known by now of what changes are held against."""
        self.found.choices = [Choice(c.tried, *self._priced(c.tried)) for c in self.found.choices]

    def _others(self) -> None:
        """One more change for each variant that has none, then the smallest of what is left, until
        there are enough to choose from.
        """
        if not self.found.choices:
            return
        for root in self.found.as_it_is:
            while not self._has_choice(root) and self._next_of(root.variant):
                pass
        while len(self.found.choices) < ENOUGH and self._next_of(""):
            pass

    def _next_of(self, variant: str) -> bool:
        """Holds the best of this variant (or of any) that keeps the budgets with the story's own
        seed, or else tries the smallest that waits; whether there was any.
        """
        keepers = [t for t in self._keepers if variant in ("", t.variant)]
        if keepers:
            best = min(keepers, key=self._rank_until_now)
            self._keepers.remove(best)
            self._confirm(best)
            return True
        candidate = next((c for c in self._waiting if variant in ("", c.variant)), None)
        if candidate is not None:
            self._waiting.remove(candidate)
            self._look_at(candidate)
        return candidate is not None

    def _has_choice(self, root: Tried) -> bool:
        return any(choice.tried.variant == root.variant for choice in self.found.choices)

    def _cost_until_now(self, tried: Tried) -> float:
        return self._priced(tried, self.story.seed)[1]

    def _rank_until_now(self, tried: Tried) -> tuple[float, ...]:
        """As it would be chosen by the story's own seed alone."""
        figures = tried.runs[self.story.seed, 0].figures
        return rank_of_change(self._cost_until_now(tried), figures)

    def _priced(self, tried: Tried, seed: int | None = None) -> tuple[tuple[str, ...], float]:
        """What a change makes worse, and what it costs: in one seed, or in the middle of those in
        which it was played without the change, too.
        """
        root = self._root(tried.variant)
        both = {of for of, shift in root.runs.keys() & tried.runs.keys() if not shift}
        seeds = both if seed is None else {seed}
        before, after = root.middle(seeds), tried.middle(seeds)
        price = tuple(name for name in HEADLINES_OF_ADVICE if is_less(name, before, after))
        return price, cost_of_change(tried.patch, before, after, price)

    def _root(self, variant: str) -> Tried:
        return next(t for t in self.found.as_it_is if t.variant == variant)

    # ------------------------------------------------------------------------------ three ways to look

    def _upon_what_helps(self, root: Tried) -> Iterator[Candidate]:
        """What the causes propose once more, upon what helps but not enough."""
        if self._has_choice(root):
            return
        helping = [
            t
            for t in self.found.all_tried
            if t.variant == root.variant and t.score and self._is_nearer(t, root)
        ]
        for node in sorted(helping, key=lambda t: (t.score, t.size))[:MOST_NODES]:
            yield from self._of_causes(node)

    def _of_causes(self, node: Tried) -> Iterator[Candidate]:
        for case, _, _ in self._asked(node):
            for patch in proposals(case):
                whole = _upon(node.patch, patch)
                if whole is not None and not whole.variant:
                    is_for = partial(self._is_for, case, patch, node)
                    yield Candidate(node.variant, whole, is_for)

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
        """What is to be done something about: where no budget but those on the longest pause is
        broken, pauses that are longer.
        """
        analysis = self._analysis(node)
        beyond = node.runs[self.story.seed, 0].beyond
        broken = [budget for budget, by in zip(node.budgets, beyond) if by > 0]
        asked = asked_of(node.story, node.variant, analysis, node.budgets)
        if any(b.metric != "longest_pause" for b in broken):
            return asked
        least_us = min((b.limit for b in broken), default=0.0)
        return [one for one in asked if one[0].pause is None or one[0].pause.length_us >= least_us]

    def _singles(self) -> None:
        """Each setting's ladder, every second step first, then those beside the best one."""
        ladders = [
            (root.variant, patches)
            for root in self.found.as_it_is
            for patches in self._ladders(root)
        ]
        coarse = [Candidate(variant, p) for variant, patches in ladders for p in patches[::2]]
        self._go_through(coarse)
        self._go_through(
            Candidate(variant, patches[place])
            for variant, patches in ladders
            for place in self._beside_the_best(variant, patches)
        )

    def _ladders(self, root: Tried) -> Iterator[list[Patch]]:
        if next(everybody_in(root.story.scenario(root.variant)), None) is None:
            return
        case, consumer = self._case(root)
        for key in self.over or keys_for(consumer, application_of(case, consumer)):
            yield steps(case, consumer, key)

    def _beside_the_best(self, variant: str, patches: Sequence[Patch]) -> list[int]:
        """The steps beside the best of those that were tried."""
        tried = {
            place: found
            for place, patch in enumerate(patches)
            if (found := self._seen.get(_key(variant, patch))) is not None
        }
        best = min(tried, key=lambda p: (tried[p].score, tried[p].size), default=None)
        fine = [] if best is None else [best - 1, best + 1]
        return [place for place in fine if 0 <= place < len(patches) and place % 2]

    def _is_nearer(self, tried: Tried, root: Tried) -> bool:
        """Whether it comes nearer to keeping the budgets, with the story's own seed."""
        of, unchanged = (sum(t.runs[self.story.seed, 0].beyond) for t in (tried, root))
        return of < unchanged

    def _pairs(self, root: Tried) -> Iterator[Candidate]:
        """Two of the singles that help most, of different settings."""
        if len(self.found.choices) >= ENOUGH:
            return
        helping = sorted(
            (
                t
                for t in self.found.all_tried
                if t.variant == root.variant
                and len(t.patch.turns) == 1
                and not t.patch.script
                and self._is_nearer(t, root)
            ),
            key=lambda t: (t.score, t.size),
        )[:MOST_PAIRED]
        for one, other in combinations(helping, 2):
            whole = _upon(one.patch, other.patch)
            if whole is not None:
                yield Candidate(root.variant, whole)

    # ------------------------------------------------------------------------------------- playing

    def _try(self, variant: str, patch: Patch) -> Tried | None:
        """The change with the story's own seed; None where it makes no story."""
        key = _key(variant, patch)
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
        before = self._root(variant).runs[self.story.seed, 0].figures
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
        """Whether it holds over seeds, and wherever the faults strike; no longer than until it does
        not.
        """
        if tried.key in self._confirmed:
            return
        self._confirmed.add(tried.key)
        first = self.story.seed
        allowed = [self.seeds - rank_of(percent_of(b), self.seeds) for b in tried.budgets]
        missed = [0] * len(allowed)
        for seed in range(first, first + self.seeds):
            beyond = self._play(tried, seed).beyond
            missed = [count + (by > 0) for count, by in zip(missed, beyond)]
            if any(map(gt, missed, allowed)):
                return
        scenario = tried.story.scenario(tried.variant)
        for shift_us in shifts_of(scenario):
            if any(self._play(tried, first, shift_us).beyond):
                self.found.edges.append(tried)
                return
        self.found.choices.append(Choice(tried, *self._priced(tried)))
        self._play_over(self._root(tried.variant), range(first, first + FEW_SEEDS))
        self._price_again()

    def _play_over(self, tried: Tried, seeds: range) -> None:
        for seed in seeds[: self.seeds]:
            self._play(tried, seed)

    def _kept_small(self) -> list[Choice]:
        """Without those that do all that another one does, and more; in the order in which an
        answer takes one.
        """
        ordered = sorted(
            self.found.choices,
            key=lambda c: (
                rank_of_change(c.cost, c.tried.middle()),
                self.variants.index(c.tried.variant),  # of equals the first, as in a run
                c.tried.patch.sets,
            ),
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
            least = abs(verdict.limit or 0.0) or NOTICED_FROM.get(budget.metric, 1.0)
            beyond.append(max(verdict.excess / least, 1e-6))
    figures = measured(analysis, budgets, actions)
    return RunSaid(figures, tuple(beyond), cost, tuple(undecided))


def _upon(one: Patch, other: Patch) -> Patch | None:
    """Both, where they turn different things."""
    if not one.sets:
        return other
    if {path for path, _ in one.sets} & {path for path, _ in other.sets}:
        return None
    made = as_one(one, other)
    return (
        None if made is None or other.variant else replace(made, script=one.script or other.script)
    )


def _key(variant: str, patch: Patch) -> Key:
    return variant, tuple(sorted(patch.sets))
