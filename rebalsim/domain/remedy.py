"""A remedy: a change of a story that was played before it is advised, with what it came to.

A `Patch` is only proposed. A `Remedy` is a patch that was tried: what the metrics were before and
after it, over which seeds, and what it costs elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """One setting that is changed, in the words of whoever sets it."""

    setting: str  # Kafka's key, or the script's word
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Patch:
    """A proposed change of a story. `sets` is all of it: paths and values as `--set` takes them;
    `turns` tells it.
    """

    turns: tuple[Turn, ...]
    sets: tuple[tuple[str, str], ...]
    script: str = ""  # what of the script changes, where that is what changes
    variant: str = ""  # the variant that is played instead, where the protocol is what changes

    @property
    def overrides(self) -> tuple[str, ...]:
        """As `--set` takes them."""
        return tuple(f"{path}={value}" for path, value in self.sets)


@dataclass(frozen=True, slots=True)
class Symptom:
    """What a remedy is for: the pause that is told of, or the metric of a broken budget."""

    group: str = ""
    partition: str = ""
    started_us: int = -1
    metric: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change that was tried and helps."""

    variant: str  # in which it was tried
    patch: Patch
    before: Mapping[str, float]  # metric → its value in the middle of the seeds, in base units
    after: Mapping[str, float]
    seeds: tuple[int, ...]
    gains: tuple[str, ...]  # the metrics that it makes better, the first one first
    price: tuple[str, ...] = ()  # the metrics that it makes worse by more than a tenth
    breaks: tuple[str, ...] = ()  # budgets that are kept without it, as the file says them
    keeps_budgets: bool = False  # with it every budget that can be tried is kept, in bad seeds too
    cost: float = 0.0  # how far it turns its settings and what it makes worse, in factors of two
    of: Symptom = Symptom()


HEADLINES_OF_ADVICE = (
    "longest_pause",
    "partition_seconds",
    "rebalances",
    "duplicates",
    "lag_peak",
    "rebalancing_share",
    "longest_task_pause",
    "task_seconds",
)
