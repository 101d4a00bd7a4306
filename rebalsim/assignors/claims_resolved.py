"""What the members of a sticky assignment hold, once claims that contradict each other are settled.

Every member says which partitions it had and in which generation it got them. Usually no two
claim the same one. After a lost answer or a long pause they may: then the younger generation
wins, and between equal ones nobody is believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from rebalsim.assignors.claim import Claim
from rebalsim.assignors.universe import Universe
from rebalsim.domain.ids import Partition

# What one member claims, as the assignor at hand reads it from the subscription, and from which
# generation (None: it does not say).
Brought = tuple[Sequence[Partition], int | None]


@dataclass(slots=True)
class Resolved:
    """Who may count on what: `held` by member id in the order of the members given, and the
    partitions that two claim with equal right.
    """

    held: dict[str, list[Partition]]
    contested: dict[Partition, None] = field(default_factory=dict)


def all_subscriptions_equal(members: Iterable[Claim]) -> bool:
    """Whether everybody subscribes to the same topics.

    Kafka measures all by the first non-empty subscription it meets, so members without topics
    that come before it, in hash order, pass as equal (and will be given partitions); after it
    they do not.
    """
    first: frozenset[str] = frozenset()
    same: tuple[str, ...] | None = None
    for member in members:
        if not first:
            first, same = frozenset(member.topics), member.topics
        elif member.topics != same and (
            len(member.topics) != len(first) or not first.issuperset(member.topics)
        ):
            return False
    return True


def resolve(universe: Universe, members: Sequence[Claim], brought: dict[str, Brought]) -> Resolved:
    """Settle the claims, walking the members in the order given (hash order). Topics that nobody
    knows drop out.
    """
    claims = {member.member_id: universe.known(brought[member.member_id][0]) for member in members}
    if len(set(chain.from_iterable(claims.values()))) == sum(map(len, claims.values())):
        return Resolved(claims)
    # Kafka compares the claim's generation with that of the other member's *subscription*, which
    # for eager `sticky` need not be the one in the other's user data.
    subscribed_in = {member.member_id: max(member.owned_generation, -1) for member in members}
    claimant: dict[Partition, str] = {}
    resolved = Resolved({})
    for member_id, partitions in claims.items():
        said = brought[member_id][1]
        generation = -1 if said is None else said
        mine = resolved.held[member_id] = []
        for partition in partitions:
            other = claimant.get(partition)
            if other is None:
                mine.append(partition)
            elif generation < subscribed_in[other]:
                continue
            else:
                if partition in resolved.held[other]:
                    resolved.held[other].remove(partition)
                if generation > subscribed_in[other]:
                    mine.append(partition)
                else:
                    resolved.contested[partition] = None
            claimant[partition] = member_id
    return resolved
