"""A few timed runs before a sweep: what a run costs, and which axis makes it dearer. For the order
of play, the size of tasks, the estimate.

Costs are taken to multiply: each axis is tried at its ends (words: at each value) with the
others in the middle, and what lies between is interpolated. A wrong guess costs balance, never a
result.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.domain.sweep import Axis
from rebalsim.scenario.grid import Order, number_of
from rebalsim.spark.player import Player

_NOISE = 1.5  # smaller ratios are noise of the machine
_EACH = 6  # axes of words with at most so many values are tried at each


@dataclass(frozen=True, slots=True)
class Probe:
    """What was measured. `rows` is how many rows (variants) a run of a seed has; `timed` how
    many runs were timed.
    """

    order: Order
    rows: int
    timed: int
    is_complete: bool  # False: time ran out before every axis was tried


def probe(player: Player, seconds: float = 20.0) -> Probe:
    """Play a few runs, for at most about `seconds`, to learn how long one takes."""
    plan = player.plan
    radices = plan.radices
    began = time.perf_counter()
    cost = _Cost(player, seconds)
    middle = [radix // 2 for radix in radices]
    base, rows = cost(middle)
    if base < seconds / 20:  # the first run pays for the imports, which is much of a short one
        base, rows = cost(middle)
    if not rows:  # an impossible middle: any point that can be played will do
        middle, base, rows = _other_middle(player, middle, cost)
    costs: list[tuple[float, ...]] = []
    is_complete = True
    for place, radix in enumerate(radices):
        alike = (1.0,) * radix
        if radix == 1 or place > len(plan.axes):
            costs.append(alike)
        elif time.perf_counter() - began + base > seconds:  # one more would not end in time
            is_complete = False
            costs.append(alike)
        else:
            axis = plan.axes[place - 1] if place >= 1 else None
            known: dict[int, float] = {}
            for digit in dict.fromkeys(_tried(axis, radix)):
                took, played = cost([*middle[:place], digit, *middle[place + 1 :]])
                if played:
                    known[digit] = took
            known.setdefault(middle[place], base)
            costs.append(_factors(axis, radix, known))
    share = math.prod(costs[place][digit] for place, digit in enumerate(middle))
    return Probe(
        Order(radices, plan.seeds, tuple(costs), max(base / share, 1e-5)),
        max(1, rows),
        cost.timed,
        is_complete,
    )


class _Cost:
    """What a point costs to play, the better of two times; counts what it has timed."""

    def __init__(self, player: Player, seconds: float) -> None:
        self._player, self._seconds = player, seconds
        self.timed = 0

    def __call__(self, digits: list[int]) -> tuple[float, int]:
        plan = self._player.plan
        point = number_of(digits, plan.radices)
        best, rows = math.inf, 0
        for attempt in range(2):
            start = time.perf_counter()
            played = self._player.play(point, plan.first_seed)
            took = time.perf_counter() - start
            self.timed += 1
            rows = sum(row["error_kind"] in (None, "cut") for row in played)
            best = min(best, took)
            if attempt == 0 and (took > self._seconds / 20 or not rows):
                break
        return best, rows


def _tried(axis: Axis | None, radix: int) -> Sequence[int]:
    """The places of an axis that are timed: both ends of a scale or of what is long, else all."""
    is_scale = axis is not None and (
        axis.kind != "text" or all(s.number is not None for s in axis.steps)
    )
    return [0, radix - 1] if is_scale or radix > _EACH else range(radix)


def _other_middle(player: Player, middle: list[int], cost: _Cost) -> tuple[list[int], float, int]:
    from rebalsim.scenario.grid import digits_of, first_points

    for point in first_points(player.plan.radices, 50):
        if player.points.is_played(point):
            digits = digits_of(point, player.plan.radices)
            took, rows = cost(digits)
            if rows:
                return digits, took, rows
    return middle, 0.001, 1


def _factors(axis: Axis | None, radix: int, known: dict[int, float]) -> tuple[float, ...]:
    """A factor for each digit, from the few that were timed: straight lines between these on log
    scales.
    """
    if max(known.values()) / min(known.values()) < _NOISE:
        return (1.0,) * radix
    numbers = [step.number for step in axis.steps] if axis else [None] * radix
    is_log = all(n is not None and n > 0 for n in numbers)
    where = [math.log(n) if is_log and n else float(digit) for digit, n in enumerate(numbers)]
    marks = sorted((where[digit], math.log(took)) for digit, took in known.items())
    logs: list[float] = []
    for digit in range(radix):
        if digit in known:
            logs.append(math.log(known[digit]))
            continue
        left = max((m for m in marks if m[0] <= where[digit]), default=marks[0])
        right = min((m for m in marks if m[0] >= where[digit]), default=marks[-1])
        span = right[0] - left[0]
        logs.append(
            left[1] + (right[1] - left[1]) * ((where[digit] - left[0]) / span if span > 0 else 0.0)
        )
    least = min(logs)
    return tuple(math.exp(value - least) for value in logs)
