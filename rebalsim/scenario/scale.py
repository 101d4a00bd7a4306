"""What a story will come to before it is played: how many rebalances its script and its faults set
off at least, how much memory their trace takes, and about how long playing them takes.

Reckoned from what is written. What a group does to itself (storms, batches that outlast their time)
comes on top, and nobody knows it beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rebalsim.domain.instants import MINUTE, SECOND
from rebalsim.domain.scenario import Scenario, is_sampled
from rebalsim.domain.script import Action
from rebalsim.words.lists import plural
from rebalsim.words.times import say_duration

A_REBALANCE = 34_000  # bytes of trace and analysis: what a small group's takes …
A_MEMBER = 700  # … and each member more than some fifty
# What a rebalance takes to play, for each member: measured over 3 to 100 members and 12 to 200
# partitions, a half to three times this on one core of 2024.
A_MEMBERS_SHARE_S = {False: 150e-6, True: 500e-6}  # under the classic, the consumer protocol
LONG_S = 60  # of computing; what takes longer is said beforehand
GB = 1e9
_TWICE = ("RollingBounce", "Crash", "Freeze", "Cut", "Hang", "BrokerRestart")  # away, and back
_NONE = ("SetRate", "Slow", "Delay", "Poison")


@dataclass(frozen=True, slots=True)
class Scale:
    """So many rebalances, so much memory, within so much time."""

    rebalances: int
    bytes: int
    horizon_us: int
    seconds: float = 0.0  # of one processor, for one run: an order of magnitude

    def fitting_us(self, free: int) -> int:
        """A horizon, in whole minutes, that comes to no more than half of that memory."""
        share = free / 2 / max(self.bytes, 1)
        return int(self.horizon_us * share) // MINUTE * MINUTE


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
    seconds = count * members * A_MEMBERS_SHARE_S[is_sampled(scenario)]
    size = count * max(A_REBALANCE, members * A_MEMBER)
    return Scale(count, size, scenario.horizon_us, seconds)


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


def why_it_takes_long(played: Iterable[tuple[Scenario, int]]) -> str:
    """What to say beforehand of variants, each played so often; empty where all of it takes no more
    than a minute.
    """
    scales = [(scale_of(scenario), times) for scenario, times in played]
    seconds = sum(scale.seconds * times for scale, times in scales)
    if seconds <= LONG_S:
        return ""
    largest = max((scale for scale, _ in scales), key=lambda scale: scale.rebalances)
    runs = sum(times for _, times in scales)
    fits = int(largest.horizon_us * LONG_S / seconds) // MINUTE * MINUTE
    shorter = f" ({say_duration(fits)} takes a minute)" if fits else ""
    return (
        f"this comes to some {largest.rebalances:,} rebalances in "
        f"{'each of ' if runs > 1 else ''}{plural(runs, 'run')}, and takes some "
        f"{say_duration(round(seconds) * SECOND)} of computing — a shorter horizon{shorter}, "
        f"{'fewer runs' if runs > 1 else 'fewer actions'} or rarer faults take less"
    )
