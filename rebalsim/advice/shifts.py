"""When else the script's faults may strike: what keeps a budget only at the moment that was written
is a knife's edge.
"""

from __future__ import annotations

from dataclasses import replace

from rebalsim.domain.scenario import Scenario, everybody_in
from rebalsim.domain.script import (
    BrokerRestart,
    Crash,
    Cut,
    Delay,
    Failover,
    Freeze,
    Hang,
    Poison,
    Slow,
)

FAULTS = (BrokerRestart, Crash, Cut, Delay, Failover, Freeze, Hang, Poison, Slow)
SHIFTS_US = (-1_000_000, -500_000, 500_000, 1_000_000)


def shifts_of(scenario: Scenario) -> tuple[int, ...]:
    """Where else the faults may strike: up to a second and up to a heartbeat before and after."""
    if not any(isinstance(a.deed, FAULTS) for a in scenario.script):
        return ()
    beat = max((c.config.heartbeat_interval_us for c in everybody_in(scenario)), default=0)
    return tuple(sorted({*SHIFTS_US, -beat, beat, beat // 2, -beat // 2} - {0}))


def shifted(scenario: Scenario, by_us: int) -> Scenario:
    """The scenario with its faults that much later, and all else where it was."""
    if not by_us:
        return scenario
    script = tuple(
        replace(action, at_us=max(0, action.at_us + by_us))
        if isinstance(action.deed, FAULTS) and action.has_moment
        else action
        for action in scenario.script
    )
    return replace(scenario, script=script)
