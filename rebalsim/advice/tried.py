"""A change of the story that was played, how it came out under each seed, and what a search found."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from rebalsim.advice.size import size_of
from rebalsim.analysis.baseline import key_of
from rebalsim.domain.budget import Budget
from rebalsim.domain.percentiles import percentile, rank_of
from rebalsim.domain.remedy import HEADLINES_OF_ADVICE, Patch
from rebalsim.scenario.story import Story

Key = tuple[str, tuple[tuple[str, str], ...]]  # the variant, and what is set
USUAL_PERCENT = 95.0


def percent_of(budget: Budget) -> float:
    """How many of a hundred seeds must keep it: as the budget says, else 19 of 20."""
    return USUAL_PERCENT if budget.percentile is None else budget.percentile


@dataclass(frozen=True, slots=True)
class RunSaid:
    """One run: its figures, how far beyond each budget it went (0: kept), what it cost, and the
    places of the budgets that it leaves undecided: these are not kept either.
    """

    figures: dict[str, float]
    beyond: tuple[float, ...]
    events: int
    undecided: tuple[int, ...] = ()


@dataclass(slots=True)
class Tried:
    """A change of one variant, with the runs that were played of it."""

    variant: str
    patch: Patch
    story: Story
    runs: dict[tuple[int, int], RunSaid] = field(default_factory=dict)  # by seed and shift
    budgets: tuple[Budget, ...] = ()

    @property
    def key(self) -> Key:
        return self.variant, tuple(sorted(self.patch.sets))

    def beyond(self) -> tuple[float, ...]:
        """How far beyond each budget it goes in the seeds at that budget's percentile."""
        runs = [run.beyond for (_, shift), run in self.runs.items() if not shift]
        return tuple(
            percentile(sorted(values), percent_of(self.budgets[place])) or 0.0
            for place, values in enumerate(zip(*runs))
        )

    def goes_beyond(self, budget: Budget) -> float:
        """The same of one budget; nothing where the variant need not keep it."""
        return self.beyond()[self.budgets.index(budget)] if budget in self.budgets else 0.0

    def is_undecided(self, budget: Budget) -> bool:
        """Whether it is not kept in the seeds at its percentile, and not broken either."""
        place = self.budgets.index(budget)
        runs = [run for (_, shift), run in self.runs.items() if not shift]
        broken = sorted(place not in r.undecided and r.beyond[place] > 0 for r in runs)
        return self.beyond()[place] > 0 and not percentile(broken, percent_of(budget))

    @property
    def score(self) -> float:
        """How far from keeping all budgets; nought keeps them."""
        return sum(self.beyond())

    def middle(self, seeds: Container[int] | None = None) -> dict[str, float]:
        """Each headline in the middle of the seeds that measured it; of these, if any are named."""
        runs = [
            run.figures
            for (seed, shift), run in self.runs.items()
            if not shift and (seeds is None or seed in seeds)
        ]
        found = {
            name: percentile(sorted(run[name] for run in runs if name in run), 50)
            for name in HEADLINES_OF_ADVICE
        }
        return {name: value for name, value in found.items() if value is not None}

    def worst(self, budget: Budget) -> float | None:
        """What the budget is about in the seeds at its percentile; None where nothing was
        measured.
        """
        key = key_of(budget)
        runs = [run.figures for (_, shift), run in self.runs.items() if not shift]
        return percentile(sorted(run[key] for run in runs if key in run), percent_of(budget))

    @property
    def seeds(self) -> int:
        return sum(not shift for _, shift in self.runs)

    @property
    def size(self) -> float:
        """How far it turns what it turns, in factors of two."""
        return size_of(self.patch)


@dataclass(frozen=True, slots=True)
class Choice:
    """A change that keeps all budgets, firmly, with what it makes worse."""

    tried: Tried
    price: tuple[str, ...]
    cost: float


@dataclass(slots=True)
class Found:
    """What a search came to."""

    as_it_is: list[Tried]
    choices: list[Choice] = field(default_factory=list)
    edges: list[Tried] = field(default_factory=list)  # keep the budgets only at the written moment
    all_tried: list[Tried] = field(default_factory=list)
    events: int = 0
    seeds: int = 1  # under so many each choice was held
    is_spent: bool = False  # the events ran out before all was tried
    is_settled: bool = False  # what was not tried costs more than the first choice

    @property
    def seeds_to_keep(self) -> int:
        """Under so many of its seeds a budget must be kept that says nothing of its own."""
        return rank_of(USUAL_PERCENT, self.seeds)

    def best(self) -> Tried:
        """The nearest to keeping all budgets."""
        return min(self.all_tried, key=lambda t: (t.score, t.size))

    def least(self, budget: Budget) -> Tried:
        """Whatever comes nearest to keeping one budget."""
        asked = [t for t in self.all_tried if budget in t.budgets]
        return min(asked, key=lambda t: (t.goes_beyond(budget), t.score))
