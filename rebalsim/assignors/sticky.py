"""`sticky`: balanced first, and everybody keeps as much as possible of what it had.

Its members are EAGER: they have given up everything when they join, so what they had travels in the
assignor's own user data,
together with the generation it came from. From there on it is the sticky family's common course
(also taken by
`cooperative-sticky`): settle the claims, then one of two algorithms, for equal and for different
subscriptions.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.assignors.claim import Assignment, Claim, ReplicaRacks, Topics, UserData
from rebalsim.assignors.claims_resolved import Brought, all_subscriptions_equal, resolve
from rebalsim.assignors.rack_awareness import RackInfo
from rebalsim.assignors.sticky_constrained import assign_constrained
from rebalsim.assignors.sticky_general import assign_general
from rebalsim.assignors.universe import Universe, universe_of
from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import JavaHashMap, hash_ordered


def remember(owned: Sequence[Partition], generation: int) -> UserData:
    """What the member's assignor will say of this assignment when it joins the next time; it is
    written topic by topic.
    """
    by_topic: JavaHashMap[str, list[Partition]] = JavaHashMap()
    for partition in owned:
        held = by_topic.get(partition[0])
        if held is None:
            by_topic.compute(partition[0], [partition])
        else:
            held.append(partition)
    return UserData(
        tuple(partition for held in by_topic.values() for partition in held), generation
    )


def brought_by(claim: Claim) -> Brought:
    """What the member claims: its user data. A member that never was assigned anything has none."""
    return ((), None) if claim.user_owned is None else (claim.user_owned, claim.user_generation)


def assign(
    topics: Topics,
    members: Sequence[Claim],
    replica_racks: ReplicaRacks | None = None,
    generation: int | None = None,
) -> Assignment:
    """The sticky assignment. `generation` is the highest claim generation that the leader's
    assignor saw earlier in its life.
    """
    if not members:
        return {}
    brought = {member.member_id: brought_by(member) for member in members}
    return assign_sticky(universe_of(topics, members), members, brought, replica_racks, generation)[
        0
    ]


def assign_sticky(
    universe: Universe,
    members: Sequence[Claim],
    brought: dict[str, Brought],
    replica_racks: ReplicaRacks | None,
    generation: int | None,
) -> tuple[Assignment, dict[Partition, str] | None]:
    """The family's common course. The second value: partitions that change hands, with their new
    owners; None if not kept track of.

    The leader holds the members in a HashMap and the assignor walks them in its order: that
    decides who keeps an extra partition.
    """
    by_id = {member.member_id: member for member in members}
    walked = [by_id[member_id] for member_id in hash_ordered(by_id)]
    resolved = resolve(universe, walked, brought)
    racks = RackInfo(universe, walked, replica_racks)
    if all_subscriptions_equal(walked):
        return assign_constrained(universe, walked, resolved, racks)
    said = [generation for _, generation in brought.values() if generation is not None]
    highest = max([-1 if generation is None else generation, *said])
    return assign_general(universe, walked, brought, resolved, racks, highest), None
