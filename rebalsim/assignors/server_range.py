"""The broker's `range` under the consumer protocol: topic by topic, consecutive runs for the sorted
subscribers.

As the client's `range`, static members first and extras to the first ones, but without racks. It
looks at no previous target: who comes earlier in the order gets the lower numbers, so a member
that joins in the middle shifts everybody behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalsim.assignors.claim import AssignmentFailed
from rebalsim.assignors.server_target import ServerMember, Targets
from rebalsim.domain.java_hash import capacity_for, hash_ordered, uuid_hash


def assign(
    topics: Mapping[str, int], members: Sequence[ServerMember], homogeneous: bool | None = None
) -> Targets:
    """The new target of every member. The order of `members` makes no difference.

    A group that says its subscriptions are equal is taken by its word: everybody counts as
    subscribed to what the first one is. It can be wrong: a member that joins without topics changes
    no subscription, so the broker does not look again.

    (Two members with one instance id cannot be in a group; Kafka's class, asked all the same,
    takes them in hash order.)
    """
    by_id = {member.member_id: member for member in members}
    walked = [by_id[member_id] for member_id in hash_ordered(by_id)]
    ordered = sorted(
        walked, key=lambda m: (1, m.member_id) if m.instance_id is None else (0, m.instance_id)
    )
    first = ordered[0].topics if ordered and homogeneous else ()
    subscribers: dict[str, int] = {}
    for member in ordered:
        for topic in first if homogeneous else member.topics:
            if topic not in topics:
                raise AssignmentFailed(
                    f"{member.member_id} subscribes to topic {topic}, which the metadata does "
                    "not have"
                )
            subscribers[topic] = subscribers.get(topic, 0) + 1
    left = {topic: divmod(topics[topic], count) for topic, count in subscribers.items()}
    start = dict.fromkeys(subscribers, 0)
    targets: Targets = {}
    for member in ordered:
        runs: dict[str, range] = {}
        wanted = first if homogeneous else member.topics
        for topic in wanted:
            quota, extras = left[topic]
            begin = start[topic]
            start[topic] = end = begin + quota + (1 if extras else 0)
            left[topic] = quota, max(0, extras - 1)
            if begin < end:
                runs[topic] = range(begin, end)
        order = hash_ordered(runs, uuid_hash, capacity_for(int(len(wanted) / 0.75 + 1)))
        targets[member.member_id] = {topic: tuple(runs[topic]) for topic in order}
    return targets
