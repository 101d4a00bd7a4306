"""What a story will come to before it is played: how many rebalances its script and its faults set
off at least, and how much memory their trace takes.

Reckoned from what is written. What a group does to itself (storms, batches that outlast their time)
comes on top, and nobody knows it beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Action
from rebalsim.words.times import say_duration

A_REBALANCE = 34_000  # bytes of trace and analysis: what a small group's takes …
A_MEMBER = 700  # … and each member more than some fifty
GB = 1e9
_TWICE = ("RollingBounce", "Crash", "Freeze", "Cut", "Hang", "BrokerRestart")  # away, and back
_NONE = ("SetRate", "Slow", "Delay", "Poison")


@dataclass(frozen=True, slots=True)
class Scale:
    """So many rebalances, so much memory, within so much time."""

    rebalances: int
    bytes: int
    horizon_us: int

    def fitting_us(self, free: int) -> int:
        """A horizon, in whole minutes, that comes to no more than half of that memory."""
        share = free / 2 / max(self.bytes, 1)
        return int(self.horizon_us * share) // 60_000_000 * 60_000_000


def scale_of(scenario: Scenario) -> Scale:
    """What the script and the random faults come to."""
    count = sum(_of(action, scenario.horizon_us) for action in scenario.script)
    for fault in scenario.random_faults:
        until = scenario.horizon_us if fault.until_us is None else fault.until_us
        each = max(0, min(until, scenario.horizon_us) - fault.from_us) / max(
            fault.mean_between_us, 1
        )
        count += round(2 * each * len(fault.consumers))
    members = max((len(group.consumers) for group in scenario.groups), default=0)
    return Scale(count, count * max(A_REBALANCE, members * A_MEMBER), scenario.horizon_us)


def _of(action: Action, horizon_us: int) -> int:
    kind = type(action.deed).__name__
    if kind in _NONE:
        return 0
    named: Sequence[object] = getattr(action.deed, "consumers", ())
    each = max(1, len(named)) if kind == "RollingBounce" else 1
    times = action.times
    if action.every_us:
        left = max(0, horizon_us - action.at_us)
        times = min(times, left // action.every_us + 1)
    return times * each * (2 if kind in _TWICE else 1)


def why_too_large(scale: Scale, free: int) -> str:
    """What to say of a story whose trace will not fit into so much memory; empty where it will."""
    if scale.bytes <= free:
        return ""
    fits = scale.fitting_us(free)
    instead = f"a horizon of {say_duration(fits)} fits, or" if fits else "take"
    return (
        f"This story comes to some {scale.rebalances:,} rebalances, whose trace takes about "
        f"{scale.bytes / GB:,.0f} GB; {free / GB:,.1f} GB are free — {instead} rarer faults, fewer "
        "actions, or fewer members"
    )
