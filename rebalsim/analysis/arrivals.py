"""How many records of a partition had arrived by an instant, and when the n-th did: the topic's rate steps and ramps, in one partition's share."""

from __future__ import annotations

from bisect import bisect_right
from math import sqrt

from rebalsim.domain.ids import Partition
from rebalsim.trace.trace import TopicFacts


class Arrivals:
    """Cumulative arrivals, as a function of µs and back. Before the start nothing arrives; what waited then arrived at 0."""

    __slots__ = ("counts", "rates", "slopes", "starts")

    def __init__(self, facts: TopicFacts, partition: Partition) -> None:
        share = _share(facts, partition.number)
        self.starts: list[int] = []
        self.rates: list[float] = []                       # records a µs at each start
        self.slopes: list[float] = []                      # change of the rate per µs from there on
        self.counts: list[float] = []
        steps = facts.rates or ()
        for place, (at, rate, _) in enumerate(steps):
            now = rate * share / 1e6
            slope = 0.0
            if place + 1 < len(steps) and steps[place + 1][2] and steps[place + 1][0] > at:
                slope = (steps[place + 1][1] * share / 1e6 - now) / (steps[place + 1][0] - at)
            count = self.count(at) if self.starts else 0.0
            self.starts.append(at)
            self.rates.append(now)
            self.slopes.append(slope)
            self.counts.append(count)

    def rate(self, at_us: float) -> float:
        """Records a µs at that instant."""
        place = bisect_right(self.starts, at_us) - 1
        return self.rates[place] + self.slopes[place] * (at_us - self.starts[place]) if place >= 0 else 0.0

    def count(self, at_us: float) -> float:
        """Records that had arrived by that instant."""
        place = bisect_right(self.starts, at_us) - 1
        if place < 0:
            return 0.0
        spent = at_us - self.starts[place]
        return self.counts[place] + self.rates[place] * spent + self.slopes[place] * spent * spent / 2

    def instant(self, count: float, at_most: float) -> float:
        """When that many had arrived; `at_most` where they have not by then."""
        if count <= 0:
            return 0.0
        place = max(bisect_right(self.counts, count) - 1, 0)
        while place > 0 and self.counts[place - 1] == count:
            place -= 1
        missing = count - self.counts[place]
        rate, slope = self.rates[place], self.slopes[place]
        if slope == 0:
            return min(self.starts[place] + missing / rate, at_most) if rate > 0 else at_most
        root = rate * rate + 2 * slope * missing
        return min(self.starts[place] + (sqrt(root) - rate) / slope, at_most) if root >= 0 else at_most


def _share(facts: TopicFacts, number: int) -> float:
    total = sum(facts.weights, 0.0)
    if total > 0 and number < len(facts.weights):
        return facts.weights[number] / total
    return 1.0 / max(facts.partitions, 1)
