"""Works out the target assignment: hands the group to the assignor in Kafka's order and stores what it says.

Members go in the order of a HashMap filled from the coordinator's own map of members and then with the heartbeating one
(TargetAssignmentBuilder): with `uniform` that order decides who keeps an extra partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rebalsim.domain.java_hash import JavaHashMap
from rebalsim.protocol.consumer.member import Member, Target
from rebalsim.protocol.consumer.topics import names_of

if TYPE_CHECKING:
    from rebalsim.protocol.consumer.group import ConsumerGroup


class Candidate(NamedTuple):
    """A member as an assignor sees it. Topics in the order of Java's HashSet; `target` is the previous one, in its map's order."""

    member_id: str
    instance_id: str | None
    rack_id: str | None
    topics: tuple[str, ...]
    target: Target


class Assignor(Protocol):
    """A server-side assignor: who gets what. A member that gets nothing may be left out of the answer."""

    def __call__(
        self, members: Sequence[Candidate], topic_ids: Mapping[str, str], partitions: Mapping[str, int], is_homogeneous: bool
    ) -> Mapping[str, Target]: ...


class Computed(NamedTuple):
    """A new target assignment, not yet stored."""

    assignor: str
    targets: Mapping[str, Target]
    moved: int                          # partitions that go from one member's target to another's


def compute(group: ConsumerGroup, before: Member, member: Member, is_homogeneous: bool) -> Computed:
    """The target for the group with this member as its heartbeat makes it (`before` is how it was counted so far)."""
    assignor = preferred_assignor(group, before, member)
    candidates = _candidates(group, member)
    targets = group.settings.assignors[assignor](
        candidates,
        {name: topic.topic_id for name, topic in group.topics.by_name.items()},
        group.topics.partitions,
        is_homogeneous,
    )
    lost: set[tuple[str, int]] = set()
    gained: set[tuple[str, int]] = set()
    changed: dict[str, Target] = {}
    for candidate in candidates:
        new = targets.get(candidate.member_id, {})
        if not _is_same(candidate.target, new):
            was = {(topic, p) for topic, numbers in candidate.target.items() for p in numbers}
            will = {(topic, p) for topic, numbers in new.items() for p in numbers}
            lost |= was - will
            gained |= will - was
        stored = group.targets.get(candidate.member_id)
        # An equal target writes no record, so the broker keeps the old map, and with it the old order.
        changed[candidate.member_id] = stored if stored is not None and _is_same(stored, new) else new
    return Computed(assignor, changed, len(lost & gained))


def _is_same(one: Target, other: Target) -> bool:
    return len(one) == len(other) and all(
        topic in one and len(one[topic]) == len(numbers) and set(one[topic]) == set(numbers) for topic, numbers in other.items()
    )


def _candidates(group: ConsumerGroup, member: Member) -> list[Candidate]:
    order: JavaHashMap[str, Member] = JavaHashMap()
    for member_id, known in group.members.items():
        order.put(member_id, known)
    updates: JavaHashMap[str, Member | None] = JavaHashMap()
    updates.put(member.member_id, member)
    previous = group.statics.get(member.instance_id) if member.instance_id is not None else None
    if previous is not None and previous != member.member_id:
        updates.put(previous, None)
    for member_id, update in updates.items():
        if update is None:
            order.remove(member_id)
        else:
            order.put(member_id, update)
    return [
        Candidate(
            m.member_id,
            m.instance_id,
            m.rack_id,
            subscription_of(group, m),
            group.targets.get(previous if m is member and previous is not None else m.member_id, {}),
        )
        for m in order.values()
    ]


def subscription_of(group: ConsumerGroup, member: Member) -> tuple[str, ...]:
    """All the topics a member subscribes to, by name and by regular expression (UnionSet: the larger set first)."""
    found = group.regexes.get(member.regex) if member.regex else None
    named = member.topics.in_order
    if found is None or not found.topics:
        return named
    matched = names_of(found.topics).in_order
    if not named:
        return matched
    first, second = (named, matched) if len(named) > len(matched) else (matched, named)
    known = frozenset(first)
    return first + tuple(name for name in second if name not in known)


def preferred_assignor(group: ConsumerGroup, before: Member, member: Member) -> str:
    """The assignor that most members name. On a tie the first in a HashMap's order wins (ConsumerGroup#computePreferredServerAssignor)."""
    votes: JavaHashMap[str, int] = JavaHashMap.copy_of(group.assignor_counts)
    if before.assignor is not None:
        votes.compute(before.assignor, votes[before.assignor] - 1)
        if not votes[before.assignor]:
            votes.remove(before.assignor)
    if member.assignor is not None:
        # compute() hangs a key that is not there (any more) on its bucket's head: a tie of one to one goes to this member's assignor.
        votes.compute(member.assignor, votes.get(member.assignor, 0) + 1)
    winner, most = next(iter(group.settings.assignors)), 0
    for name, count in votes.items():
        if count > most:
            winner, most = name, count
    return winner
