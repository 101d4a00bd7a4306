"""A handler got stuck: nothing but max.poll.interval.ms ends its hold, and of a static member the
session has to run out as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case, both, nice_above, restart_us
from rebalsim.domain.doing import Doing
from rebalsim.domain.instants import SECOND
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.remedy import Patch
from rebalsim.lint.facts import full_batch
from rebalsim.lint.figures import worst_batch_us
from rebalsim.scenario.quantities import say_us

LEAST_US, CAREFUL_US = 10 * SECOND, 30 * SECOND
BATCHES = 3  # a limit leaves room for so many of the worst batches
BEATS = 3  # a session is never shorter than so many heartbeats


def propose(case: Case) -> Iterator[Patch | None]:
    if not any(
        phase.facts.doing is Doing.STUCK or phase.kind is PhaseKind.STUCK
        for phase in case.in_pause(
            PhaseKind.STUCK,
            PhaseKind.BARRIER,
            PhaseKind.DETECTION,
            PhaseKind.NOTICE,
            PhaseKind.FOLLOW_UP,
            PhaseKind.AWAY,
        )
    ):
        return
    who = case.blamed
    if who is None or not who.habits.has_poll_limit:
        return
    now = who.config.max_poll_interval_us
    worst = worst_batch_us(case.scenario, who.handler, full_batch(case.scenario, who))
    least = nice_above(max(LEAST_US, BATCHES * worst))
    for limit_us in dict.fromkeys((least, max(least, CAREFUL_US))):
        if limit_us >= now:
            continue
        limit = case.setting(who, "max.poll.interval.ms", say_us(limit_us))
        if who.config.group_instance_id is not None:
            yield both(limit, case.setting(who, "session.timeout.ms", say_us(session_for(case))))
        yield limit


def session_for(case: Case) -> int:
    """A session that outlasts the restarts of this run by a heartbeat, and no longer."""
    who = case.blamed
    beat = who.config.heartbeat_interval_us if who is not None else 3 * SECOND
    return nice_above(max(LEAST_US, BEATS * beat, restart_us(case) + beat))
