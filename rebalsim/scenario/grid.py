"""Grid arithmetic: a point's number ↔ its digits, the order in which points are played, and where
that order is cut. Never a list of points.

Points are numbered in the plan's order, last axis fastest. They are played in another one: the
axis whose values differ most in cost is the slowest digit and starts at its most expensive
value, so that the long runs begin first and the short ones fill what is left (a longest-first
schedule in constant memory). A place in that order is called rank here; seeds are its last
digit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

FINE_SHARE, FINER = 0.1, 4  # the last tenth of the work in quarter slices


def digits_of(number: int, radices: Sequence[int]) -> list[int]:
    """The digits of `number` in a mixed radix, most significant first."""
    digits = [0] * len(radices)
    for place in range(len(radices) - 1, -1, -1):
        number, digits[place] = divmod(number, radices[place])
    return digits


def number_of(digits: Sequence[int], radices: Sequence[int]) -> int:
    number = 0
    for digit, radix in zip(digits, radices, strict=True):
        number = number * radix + digit
    return number


@dataclass(frozen=True, slots=True)
class Slice:
    """Ranks [start, stop) that one task plays, and what they should cost."""

    start: int
    stop: int
    cost: float


@dataclass(frozen=True, slots=True)
class Order:
    """The order of play over all point × seed. `costs[axis][digit]` is how many times as long a
    run takes with that digit as with the cheapest.
    """

    radices: tuple[int, ...]  # of the point
    seeds: int
    costs: tuple[tuple[float, ...], ...]  # per axis, in the plan's order
    unit: float = 1.0  # seconds a run takes where every factor is 1

    @property
    def size(self) -> int:
        return prod(self.radices) * self.seeds

    def axes_by_weight(self) -> list[int]:
        """The plan's axes from slowest to fastest: by how far their values' costs lie apart; the
        plan's order decides ties.
        """
        spread = [max(costs) / min(costs) for costs in self.costs]
        return sorted(range(len(self.radices)), key=lambda axis: (-spread[axis], axis))

    def turns(self) -> list[list[int]]:
        """For each axis of `axes_by_weight` its digits in the order of play: the most expensive
        first; equal ones in the plan's order.
        """
        return [
            sorted(range(self.radices[axis]), key=lambda digit: (-self.costs[axis][digit], digit))
            for axis in self.axes_by_weight()
        ]

    def total(self) -> float:
        """What the whole grid should cost in seconds: the costs are products, so their sum is a
        product of sums.
        """
        return self.unit * self.seeds * prod(sum(costs) for costs in self.costs)

    def walker(self) -> Walker:
        return Walker(self)

    def slices(self, target: float, most: int = 10_000) -> Iterator[Slice]:
        """Cut the ranks into pieces of about `target` seconds (never under one run), of at most
        `most` runs: lazily, from the tree of digits.

        The last tenth is cut finer, so that the cores come to the end together.
        """
        coarse_until = self.total() * (1 - FINE_SHARE) * (1 - 1e-9)
        done = 0.0
        levels = [
            [self.costs[axis][digit] for digit in turn]
            for axis, turn in zip(self.axes_by_weight(), self.turns(), strict=True)
        ]
        levels.append([1.0] * self.seeds)
        below_cost = [1.0] * (len(levels) + 1)
        below_size = [1] * (len(levels) + 1)
        for i in range(len(levels) - 1, -1, -1):
            below_cost[i] = below_cost[i + 1] * sum(levels[i])
            below_size[i] = below_size[i + 1] * len(levels[i])
        start = stop = 0
        cost = 0.0

        # An explicit stack of (level, next digit, factor so far): recursion would be shorter, but
        # generators in generators are slow here.
        stack: list[list[float]] = [[0, 0, self.unit]]
        if below_cost[0] * self.unit <= target / FINER and below_size[0] <= most:
            yield Slice(0, below_size[0], below_cost[0] * self.unit)
            return
        while stack:
            frame = stack[-1]
            level, digit, factor = int(frame[0]), int(frame[1]), frame[2]
            if digit == len(levels[level]):
                stack.pop()
                continue
            here = factor * levels[level][digit]
            subtree, size = here * below_cost[level + 1], below_size[level + 1]
            fits = cost + subtree <= target * (1 + 1e-9) and stop - start + size <= most
            if not fits and stop > start and (size == 1 or cost >= target / 2):
                # Better a new slice than one that reaches over two unlike subtrees.
                yield Slice(start, stop, cost)
                done += cost
                start, cost = stop, 0.0
                if done >= coarse_until:
                    target, coarse_until = target / FINER, math.inf
                continue
            frame[1] += 1
            if fits or size == 1:
                stop += size
                cost += subtree
            else:
                stack.append([level + 1, 0, here])
        if stop > start:
            yield Slice(start, stop, cost)


class Walker:
    """Goes along the ranks; keeps the digits, so that the next rank costs an increment and not a
    division per axis.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._axes = order.axes_by_weight()
        self._turns = order.turns()
        self._radices = [*(order.radices[axis] for axis in self._axes), order.seeds]
        self._weights = [1] * len(order.radices)
        for axis in range(len(order.radices) - 2, -1, -1):
            self._weights[axis] = self._weights[axis + 1] * order.radices[axis + 1]

    def walk(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """(point, number of the seed) of each rank in [start, stop)."""
        if start >= stop:
            return
        digits = digits_of(start, self._radices)
        point = self._point(digits)
        last = len(digits) - 1
        for _ in range(start, stop):
            yield point, digits[last]
            digits[last] += 1
            if digits[last] == self._radices[last]:
                place = last
                while place > 0 and digits[place] == self._radices[place]:
                    digits[place] = 0
                    place -= 1
                    digits[place] += 1
                if digits[0] == self._radices[0]:
                    return
                point = self._point(digits)

    def rank_of(self, point: int, seed: int) -> int:
        """Where in the order of play this run stands."""
        plain = digits_of(point, self._order.radices)
        digits = [self._turns[place].index(plain[axis]) for place, axis in enumerate(self._axes)]
        return number_of([*digits, seed], self._radices)

    def _point(self, digits: Sequence[int]) -> int:
        return sum(
            self._weights[axis] * turn[digit]
            for axis, turn, digit in zip(self._axes, self._turns, digits)
        )


def even_order(radices: Sequence[int], seeds: int, unit: float = 0.01) -> Order:
    """The order for a grid whose costs nobody has measured: the plan's own."""
    return Order(tuple(radices), seeds, tuple((1.0,) * radix for radix in radices), unit)


def groups(slices: Iterator[Slice], cost: float, most: int) -> Iterator[list[Slice]]:
    """Slices in batches of about `cost` seconds and at most `most` slices: what is computed
    between two marks of progress.
    """
    batch: list[Slice] = []
    spent = 0.0
    for piece in slices:
        if batch and (spent + piece.cost > cost or len(batch) == most):
            yield batch
            batch, spent = [], 0.0
        batch.append(piece)
        spent += piece.cost
    if batch:
        yield batch


def first_points(radices: Sequence[int], count: int) -> Iterator[int]:
    """Some points spread over the grid, for a look at it: evenly, ends included."""
    points = prod(radices)
    if points <= count:
        yield from range(points)
        return
    for i in itertools.islice(itertools.count(), count):
        yield i * (points - 1) // (count - 1)
