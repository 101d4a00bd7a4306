"""`cooperative-sticky`: the sticky assignment, but nothing changes hands while its owner still has
it.

A COOPERATIVE member joins with its partitions in hand and keeps consuming them. A partition that
the sticky assignment would move is therefore withheld: it is taken from the new owner's list and
given to nobody. The old owner, seeing that it is not in its own list either, revokes it and joins
again, and in that second rebalance it is free. Partitions of members that are gone, and new ones,
are claimed by nobody and are given out at once.

EAGER members own nothing when they join: among them this assignor has nothing to stick to.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.assignors.claim import Assignment, Claim, ReplicaRacks, Topics, UserData
from rebalsim.assignors.claims_resolved import Brought
from rebalsim.assignors.sticky import assign_sticky
from rebalsim.assignors.universe import universe_of
from rebalsim.domain.ids import Partition


def remember(owned: Sequence[Partition], generation: int) -> UserData:
    """What the member's assignor will say of this assignment when it joins the next time: the
    generation, nothing more.
    """
    return UserData(None, generation)


def brought_by(claim: Claim) -> Brought:
    """What the member claims: the partitions in its subscription, and the generation there; the
    user data's if that has none.
    """
    return (
        claim.owned,
        claim.owned_generation if claim.owned_generation >= 0 else claim.user_generation,
    )


def assign(
    topics: Topics,
    members: Sequence[Claim],
    replica_racks: ReplicaRacks | None = None,
    generation: int | None = None,
) -> Assignment:
    """The sticky assignment without what has to be revoked first. `generation`: as for `sticky`."""
    if not members:
        return {}
    brought = {member.member_id: brought_by(member) for member in members}
    given, transfers = assign_sticky(
        universe_of(topics, members), members, brought, replica_racks, generation
    )
    if transfers is None:
        transfers = _changing_hands(members, given)
    for partition, member_id in transfers.items():
        given[member_id].remove(partition)
    return given


def _changing_hands(members: Sequence[Claim], given: Assignment) -> dict[Partition, str]:
    """Partitions that one member gains although another says it owns them (whether or not that
    claim was believed).
    """
    gained: dict[Partition, str] = {}
    given_up: dict[Partition, None] = {}
    for member in members:
        has = set(given[member.member_id])
        had = set(member.owned)
        gained.update((p, member.member_id) for p in given[member.member_id] if p not in had)
        given_up.update((p, None) for p in member.owned if p not in has)
    return {p: to for p, to in gained.items() if p in given_up}
