"""The group waits for a member that is busy with its batch, or loses one whose batch outlasts
max.poll.interval.ms: fewer records a poll, or a longer limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case, nice_above
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.remedy import Patch
from rebalsim.domain.trigger import Trigger
from rebalsim.lint.facts import full_batch
from rebalsim.lint.figures import worst_batch_us
from rebalsim.scenario.quantities import say_us

# in which the others wait for one that is busy
_WAITED_IN = (
    PhaseKind.BARRIER,
    PhaseKind.NOTICE,
    PhaseKind.FOLLOW_UP,
    PhaseKind.RELEASE,
    PhaseKind.ASSIGNMENT,
    PhaseKind.AWAY,
)
SHARES = (5, 50)  # batches are cut to a fifth, and to a fiftieth


def propose(case: Case) -> Iterator[Patch | None]:
    outlasted = case.pause is not None and case.pause.cause.kind is CauseKind.POLL_INTERVAL_EXCEEDED
    if case.metric in ("rebalances", "poll_expirations", "members_removed"):
        outlasted = outlasted or any(
            d.trigger is Trigger.POLL_EXPIRED for d in case.analysis.disturbances
        )
    waited = any(
        phase.facts.doing is Doing.BUSY
        for phase in case.in_pause(*_WAITED_IN, PhaseKind.FETCH, PhaseKind.REVOKE)
    )
    if not (outlasted or waited):
        return
    who = next((c for c in _suspects(case)), None)
    if who is None:
        return
    records = who.config.max_poll_records
    for share in SHARES:
        if records // share >= 1:
            yield case.setting(who, "max.poll.records", str(records // share))
    if outlasted and who.habits.has_poll_limit:
        worst = worst_batch_us(case.scenario, who.handler, full_batch(case.scenario, who))
        longer = nice_above(max(2 * who.config.max_poll_interval_us, 1.5 * worst))
        yield case.setting(who, "max.poll.interval.ms", say_us(longer))


def _suspects(case: Case) -> Iterator[Consumer]:
    cause = case.pause.cause if case.pause is not None else None
    if cause is not None and cause.kind is CauseKind.POLL_INTERVAL_EXCEEDED:
        yield from (who for name, who in case.people.items() if name == cause.consumer)
    for phase in case.in_pause(*_WAITED_IN):
        if phase.facts.doing is Doing.BUSY and phase.facts.consumer in case.people:
            yield case.people[phase.facts.consumer]
    expired = (d.consumer for d in case.analysis.disturbances if d.trigger is Trigger.POLL_EXPIRED)
    yield from (case.people[name] for name in expired if name in case.people)
    if case.blamed is not None:
        yield case.blamed
