"""Autoscalers of pods: what KEDA and Kubernetes' HorizontalPodAutoscaler are told, their own defaults
filled in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rebalsim.domain.deed import Deed
from rebalsim.domain.instants import MINUTE, SECOND

if TYPE_CHECKING:
    from rebalsim.domain.consumer import Consumer


@dataclass(frozen=True, slots=True)
class Policy:
    """How much an autoscaler may change in a period: so many pods, or so many percent."""

    pods: int = 0
    percent: int = 0
    period_us: int = 15 * SECOND


@dataclass(frozen=True, slots=True)
class Autoscale(Deed):
    """From now on the number of a group's members follows its lag (KEDA, over an HPA), or how busy
    they are (an HPA alone, where `cpu_target` is set).

    `joiners` are the consumers that may be started, in their order; `least` and `most` bound the
    number of all that run.
    """

    group: str
    joiners: tuple[Consumer, ...] = ()
    least: int = 0
    most: int = 100
    idle: int | None = None
    topics: tuple[str, ...] = ()  # whose lag is looked at; empty: all that the group has committed
    lag_threshold: float = 10.0
    activation: float = 0.0
    is_value: bool = False  # metricType Value: it multiplies, instead of dividing
    allows_idle: bool = False
    limits_to_lagging: bool = False
    resets_to_earliest: bool = False
    polling_us: int = 30 * SECOND
    cooldown_us: int = 5 * MINUTE
    sync_us: int = 15 * SECOND
    tolerance: float = 0.1
    cpu_target: float | None = None  # share of a pod's time in its handler that is wanted
    up_window_us: int = 0
    down_window_us: int = 5 * MINUTE
    up: tuple[Policy, ...] = (Policy(pods=4), Policy(percent=100))
    down: tuple[Policy, ...] = (Policy(percent=100),)
