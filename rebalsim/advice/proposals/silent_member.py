"""A member is dead, frozen or cut off, and nobody knows before its session ends: a shorter session
where it does not return, a longer one where it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rebalsim.advice.case import Case, both, nice_above, restart_us
from rebalsim.domain.doing import Doing
from rebalsim.domain.instants import SECOND
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.remedy import Patch
from rebalsim.domain.trigger import Trigger
from rebalsim.scenario.quantities import say_us

SILENT = (
    Doing.DEAD,
    Doing.FROZEN,
    Doing.CUT_OFF,
    Doing.AWAY,
    Doing.CLOSING,
    Doing.DEAD_LEADER,
    Doing.DEAD_OWNER,
    Doing.STUCK,
)
SHORT_US = (20 * SECOND, 10 * SECOND, 6 * SECOND)
BEATS = 3


def propose(case: Case) -> Iterator[Patch | None]:
    who = case.blamed
    if who is None:
        return
    session = session_us(case)
    if any(
        phase.facts.doing in SILENT and (phase.facts.timer or phase.kind is not PhaseKind.AWAY)
        for phase in case.in_pause(
            PhaseKind.DETECTION, PhaseKind.BARRIER, PhaseKind.ASSIGNMENT, PhaseKind.STUCK
        )
    ):
        beats = BEATS * who.config.heartbeat_interval_us
        away = restart_us(case)
        lengths = [us for us in SHORT_US if us >= beats]
        is_kept = who.config.group_instance_id is not None and away > 0
        if is_kept:
            # no shorter than a restart takes, or every restart becomes a rebalance
            lengths = [nice_above(away + 2 * who.config.heartbeat_interval_us), *lengths[-1:]]
        for us in dict.fromkeys(lengths):
            if us < session:
                yield case.setting(who, "session.timeout.ms", say_us(us))
        if beats > SHORT_US[-1] and session > SHORT_US[-1] and not is_kept:
            # the heartbeats are too far apart for a shorter session: both, then
            yield both(
                case.setting(who, "session.timeout.ms", say_us(SHORT_US[-1])),
                case.setting(who, "heartbeat.interval.ms", say_us(SHORT_US[-1] // BEATS)),
            )
    expired = any(d.trigger is Trigger.SESSION_EXPIRED for d in case.analysis.disturbances)
    if expired and _longest_silence(case) > session:
        longer = nice_above(_longest_silence(case) + 2 * who.config.heartbeat_interval_us)
        yield case.setting(who, "session.timeout.ms", say_us(longer))


def session_us(case: Case) -> int:
    """The session in force for whom it is about."""
    who = case.blamed
    if who is None or who.config.uses_consumer_protocol:
        return case.scenario.cluster.config.group_consumer_session_timeout_us
    return who.config.session_timeout_us


def _longest_silence(case: Case) -> int:
    """The longest that anybody was silent and came back in his old place."""
    longest = 0
    for member in case.analysis.members:
        for span, after in pairwise(member.spans):
            if span.what in (Doing.FROZEN, Doing.CUT_OFF) and after.what not in (
                Doing.AWAY,
                Doing.CLOSING,
            ):
                longest = max(longest, span.ended_us - span.started_us)
    return max(longest, restart_us(case)) if _has_statics(case) else longest


def _has_statics(case: Case) -> bool:
    return any(c.config.group_instance_id is not None for c in case.people.values())
