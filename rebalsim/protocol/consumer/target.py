"""Works out the target assignment: hands the group to the assignor in Kafka's order and takes
what it says (TargetAssignmentBuilder).
"""

from __future__ import annotations

from typing import NamedTuple

from rebalsim.domain.java_hash import JavaHashMap
from rebalsim.domain.server_target import ServerMember, Target, Targets, as_recorded, is_same
from rebalsim.protocol.consumer.group import ConsumerGroup
from rebalsim.protocol.consumer.member import Member
from rebalsim.protocol.consumer.refusal import Refusal
from rebalsim.protocol.consumer.topics import names_of
from rebalsim.protocol.errors_of_kafka import Error


class Computed(NamedTuple):
    """A new target assignment, not yet stored."""

    assignor: str
    targets: Targets
    moved: int  # partitions that go from one member's target to another's


def compute(group: ConsumerGroup, before: Member, member: Member, is_homogeneous: bool) -> Computed:
    """The target for the group with this member as its heartbeat makes it (`before` is how it
    was counted so far).
    """
    assignor = preferred_assignor(group, before, member)
    entering = _entering(group, member)
    try:
        answered = group.settings.assignors[assignor](
            group.topics.partitions, entering, is_homogeneous
        )
    except (
        Exception
    ) as e:  # it may be the user's own; Kafka answers so, and the group stays as it was
        raise Refusal(
            Error.UNKNOWN_SERVER_ERROR, f"the assignor {assignor} failed: {type(e).__name__}: {e}"
        ) from e
    lost: set[tuple[str, int]] = set()
    gained: set[tuple[str, int]] = set()
    targets: Targets = {}
    for spec in entering:
        new = answered.get(spec.member_id, {})
        if new is spec.target or is_same(new, spec.target):
            # no record is written, so the broker keeps the old map and with it the old order
            targets[spec.member_id] = spec.target
            continue
        targets[spec.member_id] = as_recorded(new)
        was = {(topic, p) for topic, numbers in spec.target.items() for p in numbers}
        will = {(topic, p) for topic, numbers in new.items() for p in numbers}
        lost |= was - will
        gained |= will - was
    return Computed(assignor, targets, len(lost & gained))


def _entering(group: ConsumerGroup, member: Member) -> list[ServerMember]:
    """The members in the order in which they enter the assignor's HashMap: that of the
    coordinator's own map, a newcomer last.

    It decides wherever two of them share a bucket. A static member that takes another's place
    brings that one's target.
    """
    previous = group.statics.get(member.instance_id) if member.instance_id is not None else None
    ids: dict[tuple[str, ...], tuple[str, ...]] = {}  # most members have one subscription
    by_name = group.topics.by_name

    def spec(m: Member, target: Target) -> ServerMember:
        names = subscription_of(group, m)
        topics = ids.get(names)
        if topics is None:
            topics = ids[names] = tuple(by_name[name].topic_id for name in names if name in by_name)
        return ServerMember(m.member_id, topics, m.instance_id, target)

    targets = group.targets
    entering = [
        spec(
            member if known.member_id == member.member_id else known,
            targets.get(known.member_id, {}),
        )
        for known in group.members.values()
        if known.member_id != previous or previous == member.member_id
    ]
    if member.member_id not in group.members:
        entering.append(
            spec(member, targets.get(previous if previous is not None else member.member_id, {}))
        )
    return entering


def subscription_of(group: ConsumerGroup, member: Member) -> tuple[str, ...]:
    """All the topics a member subscribes to, by name and by regular expression (UnionSet: the
    larger set first).
    """
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
    """The assignor that most members name. On a tie the first in a HashMap's order wins
    (ConsumerGroup#computePreferredServerAssignor).
    """
    votes: JavaHashMap[str, int] = JavaHashMap.copy_of(group.assignor_counts)
    if before.assignor is not None:
        votes.compute(before.assignor, votes[before.assignor] - 1)
        if not votes[before.assignor]:
            votes.remove(before.assignor)
    if member.assignor is not None:
        # compute() hangs a key that is not there (any more) on its bucket's head: a tie of one to
        # one goes to this member's assignor.
        votes.compute(member.assignor, votes.get(member.assignor, 0) + 1)
    winner, most = next(iter(group.settings.assignors)), 0
    for name, count in votes.items():
        if count > most:
            winner, most = name, count
    return winner
