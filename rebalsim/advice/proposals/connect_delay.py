"""Kafka Connect: a delay that fits the workers' restarts, one worker at a time, incremental rounds,
and sinks whose groups do not stop for each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rebalsim.advice.case import Case, away_us, nice_above
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
    if any(case.in_pause(PhaseKind.DELAY, PhaseKind.FOLLOW_UP, PhaseKind.NOTICE)):
        restarts = sorted({us for us in map(partial(away_us, case), case.people) if us})
        for us in dict.fromkeys((*restarts[:1], *restarts[-1:])):
            yield _delay(now, nice_above(us * 1.1))
    if any(case.in_pause(PhaseKind.DELAY)):
        for us in SHORT_US:
            if us < now:
                yield _delay(now, us)


def _incremental(case: Case, worker: Consumer) -> Iterator[Patch]:
    """Under eager each round stops every task, and empties every sink's group."""
    assert worker.worker is not None
    if worker.worker.connect_protocol == EAGER and len(case.story.variants) == 1:
        yield Patch(
            (Turn("connect.protocol", EAGER, "sessioned"),),
            (("connect.config.connect.protocol", "sessioned"),),
        )


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
