"""Who is near what: racks of members and of replicas, and whether looking at them can help at
all (KIP-881).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rebalsim.assignors.claim import Claim, ReplicaRacks
from rebalsim.assignors.universe import Universe
from rebalsim.domain.ids import Partition

Racks = tuple[str, ...]  # the racks of a partition's replicas, without repetition


def replica_racks_of(racks: ReplicaRacks, topic: str, count: int) -> list[Racks]:
    """Per partition of the topic the racks its replicas are in. All replicas count, offline ones
    too; those without a rack do not.
    """
    given = racks.get(topic, ())
    return [
        tuple(dict.fromkeys(r for r in given[i] if r)) if i < len(given) else ()
        for i in range(count)
    ]


def matter(member_racks: Iterable[str], partition_racks: Sequence[Racks]) -> bool:
    """Whether a placement by rack can do any good: some member's rack holds replicas, and not
    every partition is in every rack.
    """
    everywhere = {rack for racks in partition_racks for rack in racks}
    return any(rack in everywhere for rack in member_racks) and any(
        len(racks) != len(everywhere) for racks in partition_racks
    )


class RackInfo:
    """The racks of the whole group at once, as the sticky assignors use them.

    `active` says whether racks matter; if they do not, nobody has one. A partition's weight is how
    many members could take it
    locally (where racks do not matter all partitions would weigh the same).
    """

    __slots__ = ("active", "member_rack", "partition_racks", "weight")

    def __init__(
        self, universe: Universe, members: Sequence[Claim], racks: ReplicaRacks | None
    ) -> None:
        self.member_rack: dict[str, str] = {}
        self.partition_racks: dict[Partition, Racks] = {}
        self.weight: dict[Partition, int] = {}
        self.active = False
        named = {m.member_id: m.rack for m in members if m.rack}
        if not named or racks is None:
            return
        all_racks = [
            found
            for topic, count in universe.topics.items()
            for found in replica_racks_of(racks, topic, count)
        ]
        if matter(named.values(), all_racks):
            members_in = Counter(named.values())
            self.active = True
            self.member_rack = named
            self.partition_racks = dict(zip(universe.partitions, all_racks))
            self.weight = {
                p: sum(members_in[rack] for rack in found)
                for p, found in self.partition_racks.items()
            }

    def mismatch(self, member_id: str, partition: Partition) -> bool:
        """Whether the partition is remote to the member. A member without a rack is at home
        everywhere.
        """
        rack = self.member_rack.get(member_id)
        return rack is not None and rack not in self.partition_racks[partition]

    def next_local(self, partition: Partition, members: Sequence[str], start: int) -> int:
        """The position of the next member, going round from `start`, whose rack holds the
        partition; -1 if there is none.
        """
        racks = self.partition_racks[partition]
        if racks:
            for i in range(len(members)):
                at = (start + i) % len(members)
                if self.member_rack.get(members[at]) in racks:
                    return at
        return -1
