"""How records arrive at a topic, as steps in time and weights of partitions."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from rebalsim.domain.instants import DAY
from rebalsim.domain.scenario import RateStep
from rebalsim.scenario.kinds import Written


def rate_steps(rate: Any, partitions: int, horizon_us: int) -> tuple[RateStep, ...]:
    """A rate as written, as steps of the whole topic's rate."""
    if isinstance(rate, Written):
        return _daily(rate, partitions, horizon_us)
    return tuple(RateStep(at, _whole(value, partitions), is_ramp) for at, value, is_ramp in rate)


def _whole(value: tuple[float, bool], partitions: int) -> float:
    return value[0] * partitions if value[1] else value[0]


def steps_of(rate: Any, horizon_us: int) -> int:
    """How many steps a rate as written comes to, known before any is made."""
    if not isinstance(rate, Written):
        return len(rate)
    return int(horizon_us // (rate.get("period", DAY) // 24)) + 2


def _daily(curve: Written, partitions: int, horizon_us: int) -> tuple[RateStep, ...]:
    """A cosine between low and high as 24 straight lines a day; close enough, and exact to
    integrate.
    """
    low, high = _whole(curve.get("low"), partitions), _whole(curve.get("high"), partitions)
    period = curve.get("period", DAY)
    peak = curve.get("peak", period // 2)
    step = period // 24
    made = []
    for i in range(steps_of(curve, horizon_us)):
        phase = 2 * math.pi * ((i * step - peak) % period) / period
        made.append(
            RateStep(i * step, round(low + (high - low) * (1 + math.cos(phase)) / 2, 6), i > 0)
        )
    return tuple(made)


@lru_cache(maxsize=64)
def zipf(exponent: float, partitions: int) -> tuple[float, ...]:
    found = []
    for i in range(partitions):
        try:
            found.append(round(1 / (i + 1) ** exponent, 12))
        except OverflowError:  # such a small rate comes to no record at all
            found += [0.0] * (partitions - i)
            break
    return tuple(found)
