"""`roundrobin`: all partitions of all topics in order, dealt to the sorted members in turn.

One cursor goes round the members for the whole deal; a member that does not subscribe to the
topic at hand is passed over, and the cursor is not put back between topics. Nothing is
remembered, racks do not count, and with unequal subscriptions the loads can differ by much: a
member passed over for one topic gets nothing back for it later.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.assignors.claim import Assignment, Claim, ReplicaRacks, Topics, by_seniority
from rebalsim.assignors.universe import universe_of


def assign(
    topics: Topics,
    members: Sequence[Claim],
    replica_racks: ReplicaRacks | None = None,
    generation: int | None = None,
) -> Assignment:
    """Deal the partitions round. What members hold already, racks and the generation make no
    difference.
    """
    universe = universe_of(topics, members)
    ring = sorted(members, key=by_seniority)
    given: Assignment = {member.member_id: [] for member in members}
    if all(
        len(member.topics) == len(ring[0].topics) and set(member.topics) == set(ring[0].topics)
        for member in ring
    ):
        for seat, member in enumerate(ring):  # nobody is ever passed over
            given[member.member_id] = universe.partitions[seat :: len(ring)]
        return given
    cursor = 0
    for topic in universe.topics:
        subscribed = [topic in member.topics for member in ring]
        for partition in universe.of(topic):
            while not subscribed[cursor]:
                cursor = (cursor + 1) % len(ring)
            given[ring[cursor].member_id].append(partition)
            cursor = (cursor + 1) % len(ring)
    return given
