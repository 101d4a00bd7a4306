"""How records come to a task: so many a second from one moment on, and from the next so many."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SECOND = 1_000_000
RAMP_STEPS = 20  # a straight line is played in so many steps
Steps = tuple[tuple[int, float], ...]  # from µs, records a second


@dataclass(frozen=True, slots=True)
class Arrivals:
    """`before` is what came until each step begins."""

    steps: Steps
    before: tuple[float, ...]

    def rate(self, at_us: int) -> float:
        if len(self.steps) == 1:
            return self.steps[0][1]
        return self.steps[self._step(at_us)][1]

    def come(self, at_us: int) -> float:
        """Records since the beginning."""
        if len(self.steps) == 1:
            return self.steps[0][1] * max(0, at_us) / SECOND
        step = self._step(at_us)
        from_us, rate = self.steps[step]
        return self.before[step] + rate * max(0, at_us - from_us) / SECOND

    def _step(self, at_us: int) -> int:
        return max(0, bisect_right(self.steps, at_us, key=lambda step: step[0]) - 1)


def arrivals_of(flows: Sequence[Steps]) -> Arrivals:
    """All of these together."""
    if len(flows) == 1:
        steps = tuple(sorted({0: 0.0, **dict(flows[0])}.items()))
    else:
        moments = sorted({0, *(at for steps in flows for at, _ in steps)})
        steps = tuple((at, sum(rate_at(flow, at) for flow in flows)) for at in moments)
    before = [0.0]
    for (from_us, rate), (until_us, _) in pairwise(steps):
        before.append(before[-1] + rate * (until_us - from_us) / SECOND)
    return Arrivals(steps, tuple(before))


def rate_at(flow: Steps, at_us: int) -> float:
    """Records a second at that instant."""
    return next((rate for from_us, rate in reversed(flow) if from_us <= at_us), 0.0)


def stepped(rates: Sequence[tuple[int, float, bool]], share: float) -> Steps:
    """A topic's rates (from µs, records a second, a ramp from the step before) for a part of it."""
    found: list[tuple[int, float]] = []
    at_us, rate = 0, 0.0
    for until_us, wanted, is_ramp in rates:
        if is_ramp and until_us > at_us:
            for n in range(RAMP_STEPS):
                middle = rate + (wanted - rate) * (n + 0.5) / RAMP_STEPS
                found.append((at_us + (until_us - at_us) * n // RAMP_STEPS, middle * share))
        found.append((until_us, wanted * share))
        at_us, rate = until_us, wanted
    return tuple(dict(found).items())
