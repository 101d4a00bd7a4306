"""Restarts that everybody notices: static ids, and a session that outlasts a restart."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case, both, nice_above, restart_us
from rebalsim.domain.remedy import Patch
from rebalsim.domain.script import Crash, Leave, RollingBounce
from rebalsim.domain.trigger import Trigger
from rebalsim.scenario.quantities import say_us

RESTARTS = (
    Trigger.LEFT,
    Trigger.JOINED,
    Trigger.SESSION_EXPIRED,
    Trigger.REJOINED,
    Trigger.LEADER_REJOINED,
)


def propose(case: Case) -> Iterator[Patch | None]:
    restarts = any(
        (isinstance(a.deed, RollingBounce) and not a.deed.surge_consumers)
        or (isinstance(a.deed, Crash) and a.deed.restart_after is not None)
        or isinstance(a.deed, Leave)
        for a in case.scenario.script
    )
    away = restart_us(case)
    if not restarts or not away:
        return
    if not any(d.trigger in RESTARTS for d in case.analysis.disturbances):
        return
    who = case.blamed or next(iter(case.people.values()), None)
    if who is None:
        return
    beat = who.config.heartbeat_interval_us
    session = nice_above(max(away + 2 * beat, who.config.session_timeout_us))
    longer = case.setting(who, "session.timeout.ms", say_us(session))
    if who.config.group_instance_id is not None:
        if session > who.config.session_timeout_us:
            yield longer
        return
    static = case.group_key(who, "group.instance.id", "none", '"{name}"')
    yield both(static, longer) if longer is not None else static
