"""Where every variant breaks a budget: the smallest change that keeps them all, looked for in every
variant alike and held over the same seeds, so that none is taken only because more was tried of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from rebalsim.advice.case import Asked
from rebalsim.advice.judging import Outcome
from rebalsim.advice.proposals import proposals
from rebalsim.advice.shifts import shifted, shifts_of
from rebalsim.advice.size import cost_of_change, size_of
from rebalsim.advice.trial import KEPT, SEEDS, OutOfEvents, Played, Purse, changed, measured
from rebalsim.domain.remedy import Patch, Remedy
from rebalsim.one_run import run_once
from rebalsim.reports.answer_choice import rank_of_change

# What a change comes to over these seeds, for what is asked; None where it does not help.
Judge = Callable[[Asked, Played, Played, Sequence[int]], Outcome | None]


@dataclass(slots=True)
class Contender:
    """A change that keeps all budgets, as far as it was played."""

    asked: Asked
    patch: Patch
    before: Played
    after: Played
    outcome: Outcome
    seeds: tuple[int, ...]

    @property
    def cost(self) -> float:
        of = self.outcome
        return round(cost_of_change(self.patch, of.before, of.after, of.price), 3)

    @property
    def rank(self) -> tuple[float, ...]:
        return rank_of_change(self.cost, self.outcome.after)

    def remedy(self) -> Remedy:
        of = self.outcome
        return Remedy(
            self.after.variant,
            self.patch,
            of.before,
            of.after,
            self.seeds,
            of.gains,
            of.price,
            of.breaks,
            of.keeps,
            self.cost,
            self.asked[1],
        )


def smallest_of_all(
    asked: Mapping[str, tuple[Played, Sequence[Asked]]],
    most: float,
    judge: Judge,
    purse: Purse,
    spare: Purse,
) -> list[Remedy]:
    """The smallest change that keeps all budgets, one remedy for each variant where it does, over as
    many seeds in each. `asked`: of each variant its longest pause and broken budgets; `most`: what a change costs that
    is known to keep them; `spare` pays for the variants as they are.
    """
    found: list[Contender] = []
    with suppress(OutOfEvents):
        for played, ones in sorted(asked.values(), key=lambda each: _price(each[0])):
            found += _of_variant(played, ones, most, judge, purse, spare)
    while found:
        least = min(contender.cost for contender in found)
        alike = [c for c in found if c.cost == least]
        try:
            held = _held(alike, judge, purse, spare)
        except OutOfEvents:
            return []
        if held and all(c.cost == least for c in held):
            return [c.remedy() for c in held]
        found = [
            *held,
            *(c for c in found if c.cost > least),
        ]  # some of it costs more than it seemed
    return []


def _price(played: Played) -> int:
    return max(played.costs.values(), default=0)


def _of_variant(
    played: Played,
    asked: Sequence[Asked],
    most: float,
    judge: Judge,
    purse: Purse,
    spare: Purse,
) -> list[Contender]:
    """What is proposed for a variant and keeps all budgets with the story's own seed."""
    seeds = (played.story.seed,)
    played.play(seeds[0], spare)
    found: dict[tuple[str, ...], Contender] = {}
    for one in asked:
        for patch in proposals(one[0]):
            other = None if round(size_of(patch), 3) > most else changed(played, patch)
            if other is None or patch.variant or patch.overrides in found:
                continue
            if other.play(seeds[0], purse)[KEPT]:
                outcome = judge(one, played, other, seeds)
                if outcome is not None and not outcome.breaks:
                    found[patch.overrides] = Contender(one, patch, played, other, outcome, seeds)
    return list(found.values())


def _held(alike: Sequence[Contender], judge: Judge, purse: Purse, spare: Purse) -> list[Contender]:
    """Those that keep all budgets over more and more seeds, as long as all can be paid for, the best
    of them wherever the faults strike. Raises OutOfEvents where that is not over the fewest seeds.
    """
    left = list(alike)
    for number in sorted(SEEDS):
        first = left[0].before.story.seed if left else 0
        seeds = tuple(range(first, first + number))
        price = sum(c.after.price_of(seeds) for c in left)
        of_spare = sum(c.before.price_of(seeds) for c in left)
        if price > purse.left or of_spare > spare.left:
            if number == min(SEEDS):
                raise OutOfEvents
            break
        left = [c for c in left if _over(c, seeds, judge, purse, spare)]
    while left and not _holds_anywhere(min(left, key=lambda c: c.rank), purse):
        left.remove(min(left, key=lambda c: c.rank))
    return left


def _over(
    contender: Contender, seeds: tuple[int, ...], judge: Judge, purse: Purse, spare: Purse
) -> bool:
    """Whether it keeps all budgets in each of these seeds, and helps."""
    for seed in seeds:
        contender.before.play(seed, spare)
        if not contender.after.play(seed, purse)[KEPT]:
            return False
    outcome = judge(contender.asked, contender.before, contender.after, seeds)
    if outcome is None or not outcome.keeps:
        return False
    contender.outcome, contender.seeds = outcome, seeds
    return True


def _holds_anywhere(contender: Contender, purse: Purse) -> bool:
    """Whether it does so, too, when the faults strike a little earlier or later; what cannot be paid
    for is taken to hold.
    """
    after = contender.after
    try:
        for shift_us in shifts_of(after.scenario):
            if purse.left <= 0:
                break
            with purse.bound():
                run = run_once(shifted(after.scenario, shift_us), after.story.seed)
            purse.pay(after.costs[after.story.seed])
            if not measured(run.analysis, after.budgets)[KEPT]:
                return False
    except OutOfEvents:
        pass
    return True
