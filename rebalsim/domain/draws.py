"""A number that is constant, or drawn from a named distribution. Only described here: who draws
is the simulation, from a named stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Shape = Literal["constant", "uniform", "normal", "lognormal", "exponential", "choice"]


@dataclass(frozen=True, slots=True)
class Draw:
    """Mostly a duration in µs (or a cost in µs); never negative when drawn.

    constant: always `a`. uniform: from `a` to `b`. normal: mean `a`, deviation `b` (cut at 0 and
    at a ± 4 b). lognormal: median `a`, and `b` is the 99th percentile. exponential: mean `a`,
    capped at `b` if b > 0. choice: one of `values`. With `tail_share` > 0 that share of draws
    comes from between the base value and `tail_us` instead (uniformly).
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
