"""`range`: topic by topic, the sorted subscribers get consecutive runs of its partitions.

With n partitions and k subscribers each gets n div k, and the first n mod k of them one more. As
every topic is cut the same way, topics of equal size with the same subscribers are co-partitioned:
partition i of all of them goes to the same member. Nothing is remembered: a new member that sorts
early shifts everybody. With several topics the first members collect the extras of each.

Where racks matter (KIP-881) partitions first go to members in the rack of a replica, within the
same quotas: the balance of each topic and co-partitioning come first, nearness second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalsim.assignors.claim import Assignment, Claim, ReplicaRacks, Topics, by_seniority
from rebalsim.assignors.rack_awareness import Racks, matter, replica_racks_of
from rebalsim.assignors.universe import Universe, universe_of
from rebalsim.domain.java_hash import hash_ordered


def assign(
    topics: Topics,
    members: Sequence[Claim],
    replica_racks: ReplicaRacks | None = None,
    generation: int | None = None,
) -> Assignment:
    """Cut every topic into runs. What members hold already, and the generation, make no
    difference.
    """
    universe = universe_of(topics, members)
    subscribers: dict[str, list[Claim]] = {topic: [] for topic in universe.topics}
    for member in sorted(members, key=by_seniority):
        for topic in member.topics:
            if topic in subscribers:
                subscribers[topic].append(member)
    given: Assignment = {member.member_id: [] for member in members}
    if replica_racks is not None and any(member.rack for member in members):
        cuts = [
            Cut(topic, universe, subscribers[topic], replica_racks) for topic in universe.topics
        ]
        if any(cut.needs_racks for cut in cuts):
            _assign_by_rack(cuts, given)
            return given
    for topic in _in_hash_order(members, subscribers):
        partitions = universe.of(topic)
        quota, extras = divmod(len(partitions), len(subscribers[topic]))
        start = 0
        for member in subscribers[topic]:
            end = start + quota
            if extras:
                extras -= 1
                end += 1
            elif not quota:
                break
            given[member.member_id] += partitions[start:end]
            start = end
    return given


def _in_hash_order(members: Sequence[Claim], subscribers: dict[str, list[Claim]]) -> list[str]:
    """The topics in the order of Kafka's map. It shows in the order of the lists only, not in
    who gets what.
    """
    subscriptions = {member.topics: None for member in members}
    if len(subscriptions) > 1:
        by_id = {member.member_id: member.topics for member in members}
        subscriptions = {by_id[member_id]: None for member_id in hash_ordered(by_id)}
    return hash_ordered(
        {topic: None for wanted in subscriptions for topic in wanted if topic in subscribers}
    )


class Cut:
    """One topic on its way to being cut, where racks are looked at: what is left, and how much
    each subscriber may still take.
    """

    def __init__(
        self, topic: str, universe: Universe, subscribers: list[Claim], replica_racks: ReplicaRacks
    ) -> None:
        self.topic = topic
        self.partitions = universe.of(topic)
        self.members = [member.member_id for member in subscribers]
        self.rack = {member.member_id: member.rack or None for member in subscribers}
        self.left = dict.fromkeys(range(len(self.partitions)))
        self.taken = dict.fromkeys(self.members, 0)
        self.quota, self.extras = divmod(len(self.partitions), len(subscribers))
        named = [rack for rack in self.rack.values() if rack]
        self.racks: list[Racks] = replica_racks_of(replica_racks, topic, len(self.partitions))
        self.needs_racks = matter(named, self.racks)

    def capacity(self, member: str) -> int:
        """How many more this member may take: its quota, and one of the extras while any are
        left.
        """
        return max(0, self.quota + (1 if self.extras > 0 else 0) - self.taken[member])

    def is_local(self, member: str, number: int) -> bool:
        rack = self.rack[member]
        return rack is None or rack in self.racks[number]

    def give(self, member: str, numbers: list[int], given: Assignment) -> None:
        given[member] += [self.partitions[number] for number in numbers]
        for number in numbers:
            del self.left[number]
        self.taken[member] += len(numbers)
        if self.taken[member] > self.quota:
            self.extras -= 1

    def sweep(self, allowed: Callable[[str, int], bool], given: Assignment) -> None:
        """Every subscriber in turn takes the first allowed partitions up to its capacity."""
        for member in self.members:
            if not self.left:
                break
            numbers = [number for number in self.left if allowed(member, number)][
                : self.capacity(member)
            ]
            if numbers:
                self.give(member, numbers, given)


def _assign_by_rack(cuts: list[Cut], given: Assignment) -> None:
    """Co-partitioned topics together, single ones alone, as far as racks allow; then everything
    that is left, racks or not.
    """
    alike: dict[tuple[tuple[str, ...], int], list[Cut]] = {}
    for cut in cuts:
        alike.setdefault((tuple(cut.members), len(cut.partitions)), []).append(cut)
    for (_, count), group in alike.items():
        if len(group) > 1:
            _give_in_parallel(group, count, given)
        elif group[0].needs_racks:
            group[0].sweep(group[0].is_local, given)
    for cut in cuts:
        cut.sweep(lambda member, number: True, given)
    for partitions in given.values():
        partitions.sort()


def _give_in_parallel(group: list[Cut], count: int, given: Assignment) -> None:
    """Partition by partition, the first member to which this number is local in every topic of
    the group takes it in all of them.
    """
    candidates = list(group[0].members)
    for number in range(count):
        member = next(
            (
                m
                for m in candidates
                if all(cut.is_local(m, number) and cut.capacity(m) > 0 for cut in group)
            ),
            None,
        )
        if member is not None:
            for cut in group:
                cut.give(member, [number], given)
            if not any(cut.capacity(member) > 0 for cut in group):
                candidates.remove(member)
                if not candidates:
                    break
