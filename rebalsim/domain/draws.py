"""A number that is constant, or drawn from a named distribution. Only described here: who draws
is the simulation, from a named stream.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Shape = Literal["constant", "uniform", "normal", "lognormal", "exponential", "choice", "in_turn"]
LISTED = ("choice", "in_turn")  # whose values stand one by one


@dataclass(frozen=True, slots=True)
class Draw:
    """Mostly a duration in µs (or a cost in µs); never negative when drawn.

    constant: always `a`. uniform: from `a` to `b`. normal: mean `a`, deviation `b` (cut at 0 and
    at a ± 4 b). lognormal: median `a`, and `b` is the 99th percentile (cut at four
    deviations, too). exponential: mean `a`, capped at `b` if b > 0. choice: one of `values`.
    in_turn: each of `values` after the other, and then from the first again. With
    `tail_share` > 0 that share of draws comes from between the base value and `tail_us` instead
    (uniformly).
    """

    shape: Shape = "constant"
    a: float = 0.0
    b: float = 0.0
    values: tuple[float, ...] = ()
    tail_share: float = 0.0
    tail_us: float = 0.0

    @property
    def is_constant(self) -> bool:
        return self.shape == "constant" and self.tail_share == 0.0

    @property
    def is_zero(self) -> bool:
        return self.is_constant and self.a == 0


NOTHING = Draw()


def constantly(us: float) -> Draw:
    return Draw(a=us)


def base_of(what: Draw) -> float:
    """Around which its tail lies."""
    return sum(what.values) / len(what.values) if what.shape in LISTED else what.a


def mean_of(what: Draw) -> float:
    """What a draw comes to on average, for rates and for times that are not simulated one by
    one.
    """
    shape, a, b = what.shape, what.a, what.b
    if shape == "uniform":
        mean = (a + b) / 2
    elif shape in LISTED:
        mean = base_of(what)
    elif shape == "lognormal" and a > 0 and b > a:
        mean = a * math.exp((math.log(b / a) / 2.3263478740408408) ** 2 / 2)
    else:
        mean = a
    return mean + what.tail_share * ((base_of(what) + what.tail_us) / 2 - mean)


def most_of(what: Draw) -> float:
    """What practically no draw exceeds."""
    shape, a, b = what.shape, what.a, what.b
    most = a
    if shape == "uniform":
        most = b
    elif shape == "normal":
        most = a + 4 * b
    elif shape == "exponential":
        most = b if b > 0 else 40 * a
    elif shape in LISTED:
        most = max(what.values, default=0.0)
    elif shape == "lognormal" and a > 0 and b > a:
        most = a * math.exp(4 * math.log(b / a) / 2.3263478740408408)
    return max(most, what.tail_us) if what.tail_share else most
