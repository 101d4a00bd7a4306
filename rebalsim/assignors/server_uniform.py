"""The broker's `uniform`, Kafka's default under the consumer protocol: equal loads, and members
keep what their target held.

If all members subscribe to the same topics, quotas decide, as below; if not,
`server_uniform_unequal` does.

P partitions over M members: everybody's quota is ⌊P/M⌋, and P mod M of them may have one more.
Members are walked in hash order. Each is offered an extra while there are any; it keeps its
previous topics, in the order of its target, until the quota is used up, and gives up the rest. If
it still has room it hands the extra back, so that a member further on that could use it gets it
(KAFKA-18688) - unless there are only as many members left as extras. Then those with room take, in
the same order, all they lack at once from the free partitions: topics in hash order of their ids,
so a fresh group gets consecutive blocks.

Nothing here looks at racks or instance ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalsim.assignors.claim import AssignmentFailed
from rebalsim.assignors.server_target import ChangingTarget, ServerMember, Targets
from rebalsim.assignors.server_uniform_unequal import assign_unequal
from rebalsim.domain.java_hash import copied_set_capacity, hash_ordered, uuid_hash


def assign(
    topics: Mapping[str, int], members: Sequence[ServerMember], homogeneous: bool | None = None
) -> Targets:
    """The new target of every member; one that stays as it was is the very object that was given.

    `topics`: topic id → partitions. `members`: in the order in which they enter the assignor's map,
    that is the order of the
    group's TimelineHashMap with a member that has just joined at the end. `homogeneous`: what the
    group says about its
    subscriptions (`ConsumerGroup#subscriptionType`, by names, existing or not); None: go by the ids
    given.
    """
    if not members:
        return {}
    by_id = {member.member_id: member for member in members}
    walked = [by_id[member_id] for member_id in hash_ordered(by_id)]
    for member in walked:
        for topic in member.topics:
            if topic not in topics:
                raise AssignmentFailed(
                    f"{member.member_id} subscribes to topic {topic}, which the metadata does "
                    "not have"
                )
    if homogeneous is None:
        homogeneous = all(
            m.topics == walked[0].topics or set(m.topics) == set(walked[0].topics) for m in walked
        )
    return _assign_equal(topics, walked) if homogeneous else assign_unequal(topics, walked)


def _assign_equal(topics: Mapping[str, int], walked: list[ServerMember]) -> Targets:
    subscribed = hash_ordered(
        walked[0].topics, uuid_hash, copied_set_capacity(len(walked[0].topics))
    )
    if not subscribed:
        return {member.member_id: {} for member in walked}
    free = _nobodys(topics, walked, subscribed)
    quota, extras = divmod(sum(topics[topic] for topic in subscribed), len(walked))
    targets: Targets = {}
    unfilled: list[tuple[ServerMember, ChangingTarget | None, int]] = []
    for seat, member in enumerate(walked):
        has_extra = extras > 0
        changed, room = _kept(member, subscribed, quota + 1 if has_extra else quota, free)
        if room and has_extra and len(walked) - seat > extras:
            room -= 1
            has_extra = False
        if has_extra:
            extras -= 1
        if room:
            unfilled.append((member, changed, room))
        targets[member.member_id] = member.target if changed is None else changed.result()
    _fill(targets, unfilled, free)
    return targets


def _kept(
    member: ServerMember, subscribed: list[str], room: int, free: list[tuple[str, int]]
) -> tuple[ChangingTarget | None, int]:
    """What a member keeps of its previous target (None where that is all of it), and how much room
    is left then; what it has to give up is free.
    """
    changed: ChangingTarget | None = None
    for topic, numbers in member.target.items():
        if topic in subscribed and len(numbers) <= room:
            room -= len(numbers)
            continue
        changed = changed or ChangingTarget(member.target)
        if topic in subscribed:
            changed.remove(topic, numbers[room:])
            free += [(topic, number) for number in numbers[room:]]
            room = 0
        else:
            changed.drop(topic)
    return changed, room


def _fill(
    targets: Targets,
    unfilled: list[tuple[ServerMember, ChangingTarget | None, int]],
    free: list[tuple[str, int]],
) -> None:
    """Hand out what is free, a block to each member that has room."""
    taken = 0
    for member, changed, room in unfilled:
        block = free[taken : taken + room]
        taken += len(block)
        if block:
            changed = changed or ChangingTarget(member.target)
            for topic, number in block:
                changed.add(topic, number, 16)
            targets[member.member_id] = changed.result()


def _nobodys(
    topics: Mapping[str, int], walked: list[ServerMember], subscribed: list[str]
) -> list[tuple[str, int]]:
    """Partitions of the subscribed topics that are in nobody's previous target."""
    held = {topic: bytearray(topics[topic]) for topic in subscribed}
    for member in walked:
        for topic, numbers in member.target.items():
            if topic in held:
                for number in numbers:
                    held[topic][number] = 1
    return [
        (topic, number)
        for topic in subscribed
        for number, owned in enumerate(held[topic])
        if not owned
    ]
