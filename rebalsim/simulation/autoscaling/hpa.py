"""The HorizontalPodAutoscaler's arithmetic: a wanted number, held back by a tolerance, by windows
over past recommendations, and by policies on how much may change in a period.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil

from rebalsim.domain.autoscaling import Autoscale, Policy


def wanted_by_lag(total: float, current: int, deed: Autoscale) -> int:
    """How many pods the lag asks for. With AverageValue it is divided by what one pod may lag
    behind; with Value the pods that there are are multiplied by how far it is beyond. Neither
    changes anything while the ratio is within the tolerance.
    """
    if deed.is_value:
        ratio = total / deed.lag_threshold
        return current if abs(ratio - 1.0) <= deed.tolerance else _up(current * ratio)
    ratio = total / (deed.lag_threshold * current) if current else 0.0
    return current if abs(ratio - 1.0) <= deed.tolerance else _up(total / deed.lag_threshold)


def wanted_by_load(busy: float, current: int, deed: Autoscale) -> int:
    """`busy` is the mean share of time that pods are at work; the target is what is wanted."""
    ratio = busy / (deed.cpu_target or 1.0)
    return current if abs(ratio - 1.0) <= deed.tolerance else _up(current * ratio)


def _up(pods: float) -> int:
    return ceil(round(pods, 9))  # what is whole but for the last digit of a float is whole


@dataclass(slots=True)
class Behaviour:
    """What an HPA remembers: its recommendations, and when it changed how much."""

    deed: Autoscale
    recommended: list[tuple[int, int]] = field(default_factory=list)
    changes: list[tuple[int, int]] = field(default_factory=list)

    def decided(self, now_us: int, current: int, wanted: int) -> int:
        """How many there shall be: bounded, stabilised, and as far as the policies let."""
        deed = self.deed
        least, most = max(1, deed.least), max(1, deed.most)
        wanted = min(max(wanted, least), most)
        self.recommended.append((now_us, wanted))
        longest = max(deed.up_window_us, deed.down_window_us)
        self.recommended = [r for r in self.recommended if r[0] >= now_us - longest]
        # Up only as far as the least of the window says, down only as far as its most.
        upmost = min(self._within(now_us, deed.up_window_us))
        downmost = max(self._within(now_us, deed.down_window_us))
        target = current
        if upmost > current:
            target = min(upmost, self._most_up(now_us, current))
        elif downmost < current:
            target = max(downmost, self._most_down(now_us, current))
        return target

    def changed(self, now_us: int, by: int) -> None:
        self.changes.append((now_us, by))

    def _within(self, now_us: int, window_us: int) -> Iterable[int]:
        return [n for at, n in self.recommended if at >= now_us - window_us]

    def _most_up(self, now_us: int, current: int) -> int:
        found = []
        for policy in self.deed.up:
            before = current - self._net(now_us, policy, 1)
            found.append(before + (policy.pods or ceil(before * policy.percent / 100)))
        return max(found, default=current)

    def _most_down(self, now_us: int, current: int) -> int:
        found = []
        for policy in self.deed.down:
            before = current - self._net(now_us, policy, -1)
            found.append(before - (policy.pods or int(before * policy.percent / 100)))
        return max(0, min(found, default=current))

    def _net(self, now_us: int, policy: Policy, sign: int) -> int:
        """What changed in this direction within the policy's period."""
        return sum(
            by for at, by in self.changes if at > now_us - policy.period_us and by * sign > 0
        )
