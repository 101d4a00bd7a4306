"""What a metric comes to over several seeds of one story: nearest rank, and which seed was the
worst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalsim.domain.metrics import METRICS, Selection
from rebalsim.domain.percentiles import percentile
from rebalsim.domain.unit import Better

if TYPE_CHECKING:
    from rebalsim.analysis.analysis import Analysis

AFTER_START = Selection(after_start=True)

NEARLY = 0.02  # values over seeds closer than this share are told as nearly the same


class OverSeeds:
    """The headline metrics of one variant's runs. Runs are handed in one by one, so that none
    need be kept.
    """

    def __init__(self) -> None:
        self.seeds: list[int] = []
        self.values: dict[str, list[float | None]] = {}
        # the longest pause of each run that began once its group had settled
        self.settled: list[float] = []

    def add(self, seed: int, analysis: Analysis) -> None:
        """One more run."""
        self.seeds.append(seed)
        for name, value in analysis.summary.items():
            self.values.setdefault(name, []).append(value)
        self.settled.append(analysis.measure("longest_pause", AFTER_START) or 0)

    def known(self, metric: str) -> list[float]:
        """Its values where a run could tell, ascending."""
        return sorted(value for value in self.values.get(metric, ()) if value is not None)

    def at(self, metric: str, percent: float) -> float | None:
        """The value that this share of the runs does not exceed."""
        return percentile(self.known(metric), percent)

    def worst_seed(self, metric: str) -> int | None:
        """The first of the seeds with the worst value; None if no run could tell."""
        told = [
            (value, seed)
            for value, seed in zip(self.values.get(metric, ()), self.seeds)
            if value is not None
        ]
        if not told:
            return None
        pick = min if METRICS[metric].better == Better.MORE else max
        worst = pick(value for value, _ in told)
        return next(seed for value, seed in told if value == worst)
