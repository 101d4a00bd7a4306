"""How many records of a partition had arrived by an instant, and when the n-th did: the topic's
rate steps and ramps, in one partition's share.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import zip_longest
from math import sqrt

from rebalsim.domain.ids import Partition
from rebalsim.trace.trace import TopicFacts


class Arrivals:
    """Cumulative arrivals, as a function of µs and back. Before the start nothing arrives; what
    waited then arrived at 0.
    """

    __slots__ = ("counts", "rates", "slopes", "starts")

    def __init__(self, facts: TopicFacts, partition: Partition) -> None:
        self.starts: list[int] = []
        self.rates: list[float] = []  # records a µs at each start
        self.slopes: list[float] = []  # change of the rate per µs from there on
        self.counts: list[float] = []
        for at, rate, slope in _pieces(facts, partition.number):
            count = self.count(at) if self.starts else 0.0
            self.starts.append(at)
            self.rates.append(rate)
            self.slopes.append(slope)
            self.counts.append(count)

    def rate(self, at_us: float) -> float:
        """Records a µs at that instant."""
        place = bisect_right(self.starts, at_us) - 1
        return (
            self.rates[place] + self.slopes[place] * (at_us - self.starts[place])
            if place >= 0
            else 0.0
        )

    def count(self, at_us: float) -> float:
        """Records that had arrived by that instant."""
        place = bisect_right(self.starts, at_us) - 1
        if place < 0:
            return 0.0
        spent = at_us - self.starts[place]
        return (
            self.counts[place] + self.rates[place] * spent + self.slopes[place] * spent * spent / 2
        )

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
        return (
            min(self.starts[place] + (sqrt(root) - rate) / slope, at_most) if root >= 0 else at_most
        )


def _pieces(facts: TopicFacts, number: int) -> list[tuple[int, float, float]]:
    """From when on the partition has which rate, and which change of it, per µs: the topic's
    steps, cut where its partitions become more.
    """
    steps = facts.rates or ()
    found: list[tuple[int, float, float]] = []
    for (at, rate, _), then in zip_longest(steps, steps[1:]):
        until, slope = float("inf"), 0.0
        if then is not None:
            until, its_rate, is_ramp = then
            slope = (its_rate - rate) / (until - at) if is_ramp and until > at else 0.0
        for cut in (at, *(when for when, _ in facts.growth if at < when < until)):
            share = _share(facts, number, cut)
            found.append((cut, (rate + slope * (cut - at)) * share / 1e6, slope * share / 1e6))
    return found


def _share(facts: TopicFacts, number: int, at_us: int) -> float:
    """Which part of the topic's records the partition gets at that instant; one without a weight
    weighs 1.
    """
    count = facts.partitions
    for when, then in facts.growth:
        if when <= at_us:
            count = then
    if facts.growth and number >= count:
        return 0.0
    total = sum(facts.weights, 0.0)
    if total > 0 and (number < len(facts.weights) or facts.growth):
        weights = [
            facts.weights[n] if n < len(facts.weights) else 1.0
            for n in range(max(count, number + 1))
        ]
        return weights[number] / sum(weights)
    return 1.0 / max(count, 1)
