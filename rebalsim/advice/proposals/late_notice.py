"""Members hear of a rebalance at their next heartbeat: a shorter interval."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case
from rebalsim.domain.doing import Doing
from rebalsim.domain.instants import SECOND
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.remedy import Patch
from rebalsim.scenario.quantities import say_us

HEARD_LATE = (
    PhaseKind.NOTICE,
    PhaseKind.FOLLOW_UP,
    PhaseKind.PICKUP,
    PhaseKind.RELEASE,
    PhaseKind.INTERVAL,
)
SHORTER_US = (1 * SECOND, SECOND // 2)


def propose(case: Case) -> Iterator[Patch | None]:
    heard = any(
        phase.kind in HEARD_LATE or phase.facts.doing is Doing.UNAWARE
        for phase in case.in_pause(*HEARD_LATE, PhaseKind.BARRIER)
    )
    who = case.blamed
    if not heard or who is None:
        return
    beat = who.config.heartbeat_interval_us
    if who.config.uses_consumer_protocol:
        beat = case.scenario.cluster.config.group_consumer_heartbeat_interval_us
    for us in SHORTER_US:
        if us < beat:
            yield case.setting(who, "heartbeat.interval.ms", say_us(us))
