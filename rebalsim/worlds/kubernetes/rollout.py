"""A rollout's arithmetic by Kubernetes' own rules: how many pods more, how many fewer, in what
order. Pure functions over numbers; the scenario and the simulation use the same.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fences:
    """How far a rolling update may go from the wanted number of pods."""

    surge: int
    unavailable: int


def share(given: str, replicas: int, round_up: bool) -> int:
    """A number of pods, or a percentage of the replicas rounded as the field rounds."""
    given = given.strip()
    if not given.endswith("%"):
        return max(0, int(given))
    # Whole numbers only: 25 % of 12 is 3, whatever floating point makes of it.
    hundredths = int(given[:-1]) * replicas
    return -(-hundredths // 100) if round_up else hundredths // 100


def is_share(given: str) -> bool:
    return bool(re.fullmatch(r"\d+%?", given.strip()))


def fences(replicas: int, surge: str = "25%", unavailable: str = "25%") -> Fences:
    """maxSurge rounds up, maxUnavailable down; where both come to nothing, one may be missing."""
    up, down = share(surge, replicas, True), share(unavailable, replicas, False)
    if up == 0 and down == 0:
        down = 1
    return Fences(up, min(down, replicas))


def first_success(initial_delay: int, period: int, successes: int = 1) -> int:
    """Seconds from the container's start to the first moment at which a probe can be content."""
    return initial_delay + (max(1, successes) - 1) * period


def next_probe(start_seconds: float, initial_delay: float, period: float) -> float:
    """The first probe on its grid at or after the moment the image has started."""
    if start_seconds <= initial_delay:
        return initial_delay
    return initial_delay + math.ceil((start_seconds - initial_delay) / period) * period
