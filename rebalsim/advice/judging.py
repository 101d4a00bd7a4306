"""Whether a change helps: in the middle of the seeds and in the bad ones, and not at the expense of
something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebalsim.advice.trial import ACTED, KEPT, OF_PAUSES, VETOES, Played, of_action
from rebalsim.analysis.baseline import key_of
from rebalsim.domain.budget import Budget
from rebalsim.domain.remedy import HEADLINES_OF_ADVICE

REBALANCING = "rebalancing_share"
IN_BAD_SEEDS = "in bad seeds"  # what a change breaks there only
TENTH = 0.1  # less than a tenth is no gain, and no price
LEAST = {  # what is below this is nothing, whatever share of something else it is
    "longest_pause": 20_000.0,
    "partition_seconds": 20_000.0,
    "rebalances": 0.5,
    "duplicates": 0.5,
    "lag_peak": 0.5,
    "rebalancing_share": 0.0005,
    "longest_task_pause": 20_000.0,
    "task_seconds": 20_000.0,
}
# What somebody would mind, as a price; of what is gained, less counts too.
NOTICED_FROM = {
    "longest_pause": 100_000.0,
    "partition_seconds": 1_000_000.0,
    "rebalances": 3.0,
    "duplicates": 100.0,
    "lag_peak": 100.0,
    "rebalancing_share": 0.02,
    "longest_task_pause": 100_000.0,
    "task_seconds": 1_000_000.0,
}
LEAST_GAINED = {**NOTICED_FROM, "rebalances": 1.0, "duplicates": 1.0}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change came to."""

    before: Mapping[str, float]
    after: Mapping[str, float]
    gains: tuple[str, ...]
    price: tuple[str, ...]
    breaks: tuple[str, ...] = ()  # budgets that were kept
    keeps: bool = False  # all budgets, in bad seeds too

    @property
    def rank(self) -> tuple[float, ...]:
        """Smaller is better: budgets first, then what shall become less, then all that is paid."""
        gained = self.gains[0] if self.gains else "longest_pause"
        return (
            len(self.breaks),
            self.after.get(gained, 0.0),
            len(self.price),
            self.after.get("partition_seconds", 0.0),
            self.after.get("rebalances", 0.0),
        )


def outcome_of(
    played: Played, other: Played, seeds: Sequence[int], wanted: Sequence[str], action: str = ""
) -> Outcome | None:
    """What the change came to over these seeds; None where it does not help, or is not worth its
    price. `wanted`: the metrics of which at least one must become less; `action`: what of the
    script shall hurt less, for a change that helps elsewhere was no remedy for it.
    """
    before, after = played.over(seeds), other.over(seeds)
    if any(after.get(name, 0) > before.get(name, 0) for name in VETOES):
        return None
    if after.get(ACTED, 0) < before.get(ACTED, 0):
        return None  # it has put off some of the story beyond the horizon
    if action and not any(is_less(name, after, before) for name in of_action(action)):
        return None
    bad_before, bad_after = played.over(seeds, 95), other.over(seeds, 95)
    breaks = tuple(
        b.text if _breaks(b, bad_before, after) else f"{b.text} {IN_BAD_SEEDS}"
        for b in played.budgets
        if _breaks(b, bad_before, bad_after)
    )
    gains = tuple(
        name
        for name in wanted
        if is_less(name, after, before) and is_less(name, bad_after, bad_before)
    )
    if not gains:
        return None
    names = tuple(dict.fromkeys((*HEADLINES_OF_ADVICE, *wanted)))
    price = tuple(name for name in names if is_less(name, before, after))
    gain = max(_factor(before[name], after[name], LEAST_GAINED.get(name, 1.0)) for name in gains)
    dear = (name for name in price if not (name == REBALANCING and _stands_less(after, before)))
    if any(factor(name, after[name], before[name]) > gain for name in dear):
        return None
    keeps = all(other.figures[seed][KEPT] for seed in seeds)
    return Outcome(
        before,
        after,
        gains,
        price,
        breaks,
        keeps and bool(played.budgets) and played.is_all_budgeted,
    )


def _stands_less(after: Mapping[str, float], before: Mapping[str, float]) -> bool:
    """All that stands still becomes less. What a group's rebalancing costs is that, and is counted in
    it: a round that takes longer, because it begins while everybody's heartbeats are due later, is
    told as a price, and no reason against a pause that is shorter by more than that.
    """
    return all(is_less(name, after, before) for name in OF_PAUSES)


def _breaks(budget: Budget, before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    """Whether a budget that is kept would be kept no longer."""
    key = key_of(budget)
    if key not in before or key not in after:
        return False
    return before[key] <= budget.limit < after[key]


def is_less(name: str, one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether the one is less than the other by more than a tenth."""
    if name not in one or name not in other:
        return False
    return other[name] - one[name] > max(TENTH * other[name], LEAST.get(name, 0.0))


def factor(name: str, more: float, less: float) -> float:
    """How many times as much; what is nothing counts as the least that anybody would mind."""
    return _factor(more, less, NOTICED_FROM.get(name, 1.0))


def _factor(more: float, less: float, least: float) -> float:
    return max(more, least) / max(less, least)
