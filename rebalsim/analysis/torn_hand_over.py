"""Partitions that fell between the two rounds of a cooperative hand-over, and that nobody will be
given until something else rebalances the group.

In the first round a static member is told to give partitions up; it would join again, and the
second round would hand them on. If its process ends before that, and comes back while the group
is stable, it takes its place again with the assignment that was stored in the first round
(KIP-345, KIP-814), without a round: so nobody has the partitions, and the group is content. A
real Kafka 4.3.1 does so; only a coordinator's trace shows it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebalsim.analysis.index import NOTHING, Index, starting
from rebalsim.analysis.values import Holding
from rebalsim.domain.holding_end import HoldingEnd
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.membership import Arrival
from rebalsim.trace import events as ev


@dataclass(frozen=True, slots=True)
class Torn:
    """One such partition: who had it, since when nobody does, and the return of the one who was
    to hand it on.
    """

    partition: Partition
    giver: str
    since_us: int
    event: int


def find_torn(
    index: Index, group: str, holdings: Mapping[tuple[str, Partition], Sequence[Holding]]
) -> list[Torn]:
    """The partitions that nobody has at the horizon because their hand-over was torn, by name."""
    round_at, generation, returned = _last_round(index, group)
    if not returned:
        return []
    given: dict[Partition, None] = {}
    for name in index.members_of(group):
        numbers = index.by_consumer.get(name, NOTHING)
        for n in starting(numbers, bisect_right(numbers, round_at)):
            e = index.events[n]
            if type(e) is ev.AssignmentReceived and e.generation == generation:
                given.update(dict.fromkeys(e.partitions))
    found = []
    for (of, partition), held in holdings.items():
        last = held[-1]
        if (
            of == group
            and partition not in given
            and last.how is not HoldingEnd.HELD
            and last.consumer in returned
        ):
            found.append(Torn(partition, last.consumer, last.ended_us, returned[last.consumer]))
    return found


def _last_round(index: Index, group: str) -> tuple[int, int, dict[str, int]]:
    """The event of the last barrier of a group that is stable since, its generation, and who took
    its own place again after its assignment was stored.

    A barrier whose assignment was never written is forgotten when another coordinator takes
    over, and so is a round that had only begun.
    """
    barrier, generation, state = -1, -1, ""
    barriers: dict[int, int] = {}
    returned: dict[str, int] = {}
    for n in index.by_group.get(group, NOTHING):
        e = index.events[n]
        kind = type(e)
        if kind is ev.BarrierCompleted:
            barriers[e.generation] = n
        elif kind is ev.GroupStateChanged:
            state = e.after
            if (
                state == KafkaGroupState.STABLE
                and (now := barriers.get(e.generation, -1)) != barrier
            ):
                barrier, generation, returned = now, e.generation, {}
        elif (
            kind is ev.MemberAdded
            and e.how == Arrival.REPLACEMENT
            and state == KafkaGroupState.STABLE
        ):
            returned[e.consumer] = n
    if state != KafkaGroupState.STABLE or barrier < 0 or not _is_cooperative(index.events[barrier]):
        return -1, -1, {}
    return barrier, generation, returned


def _is_cooperative(barrier: ev.TraceEvent) -> bool:
    return type(barrier) is ev.BarrierCompleted and barrier.assignor == "cooperative-sticky"
