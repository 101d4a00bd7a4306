"""Kafka Connect: a delay that fits the workers' restarts, one worker at a time, incremental rounds,
and sinks whose groups do not stop for each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rebalsim.advice.case import Case, away_us, both, nice_above
from rebalsim.domain.connect import EAGER
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.instants import SECOND
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.remedy import Patch, Turn
from rebalsim.scenario.quantities import say_us

DELAY = "scheduled.rebalance.max.delay.ms"
COOPERATIVE = "[cooperative-sticky]"
SHORT_US = (60 * SECOND, 30 * SECOND)  # for a worker that never comes back


def propose(case: Case) -> Iterator[Patch | None]:
    workers = [c for c in case.people.values() if c.worker is not None]
    if not workers or case.pause is None:
        return
    if case.pause.group == workers[0].group:
        yield from _of_tasks(case, workers[0])
    elif case.pause.group.startswith("connect-"):
        if any(case.in_pause(PhaseKind.NOTICE, PhaseKind.BARRIER)):
            yield _cooperative_sinks(workers[0])
    else:
        return
    yield from _incremental(case, workers[0])


def _of_tasks(case: Case, worker: Consumer) -> Iterator[Patch | None]:
    assert worker.worker is not None
    now = worker.worker.scheduled_rebalance_max_delay_us
    over = _over_restarts(case)
    if any(case.in_pause(PhaseKind.DELAY, PhaseKind.FOLLOW_UP, PhaseKind.NOTICE)):
        for us in over:
            yield _delay(now, us)
    if any(case.in_pause(PhaseKind.DELAY)):
        # one that a restart outlasts has its tasks move twice, and is what lint warns of
        least = min((us for us in over if us <= now), default=0)
        for us in SHORT_US:
            if least <= us < now:
                yield _delay(now, us)


def _over_restarts(case: Case) -> tuple[int, ...]:
    """Delays a little longer than the shortest and the longest restart of this run."""
    restarts = sorted({us for us in map(partial(away_us, case), case.people) if us})
    found = (nice_above(us * 1.1) for us in (*restarts[:1], *restarts[-1:]))
    return tuple(dict.fromkeys(found))


def _incremental(case: Case, worker: Consumer) -> Iterator[Patch | None]:
    """Under eager each round stops every task, and empties every sink's group. Incremental rounds
    do not, but lost work waits: so also with a delay that fits the restarts.
    """
    assert worker.worker is not None
    if worker.worker.connect_protocol == EAGER and len(case.story.variants) == 1:
        sessioned = Patch(
            (Turn("connect.protocol", EAGER, "sessioned"),),
            (("connect.config.connect.protocol", "sessioned"),),
        )
        yield sessioned
        now = worker.worker.scheduled_rebalance_max_delay_us
        for us in (0, *_over_restarts(case)[:1]):
            yield both(sessioned, _delay(now, us))


def _delay(now: int, us: int) -> Patch | None:
    if us == now:
        return None
    value = say_us(us)
    return Patch((Turn(DELAY, say_us(now), value),), ((f"connect.config.{DELAY}", value),))


def _cooperative_sinks(worker: Consumer) -> Patch | None:
    assert worker.worker is not None
    listed = worker.worker.consumer.partition_assignment_strategy
    if tuple(listed) == ("cooperative-sticky",):
        return None
    key = "partition.assignment.strategy"
    return Patch(
        (Turn(f"consumer.{key}", f"[{', '.join(listed)}]", COOPERATIVE),),
        ((f"connect.consumer.{key}", COOPERATIVE),),
    )
