"""RangeAssignor over several topics: the first members get the remainder of every one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import at_start, is_static, selected_assignor, subscribed
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="range-skew",
    heading="Assignors and groups",
    title="Range gives the first members the remainder of every topic",
    what="The group will run range over several topics, and one member gets at least two "
    "partitions more than another that reads the "
    "same topics.",
    why="RangeAssignor deals out each topic by itself: n partitions over k members, and the "
    "first n mod k members (static ids in order, "
    "then member ids) get one more. The same members come first in every topic, so the "
    "remainders add up. Their owner has the longest "
    "batches, the greatest lag, and takes the longest at every barrier.",
    fix="Use cooperative-sticky (or roundrobin, or uniform under the consumer protocol), which "
    "balance over all topics; or make every "
    "topic's partitions a multiple of the members. Keep range only where topics must be "
    "co-partitioned.",
    example=(
        "partition.assignment.strategy: [range]\n"
        "# 10 topics of 4 partitions, 3 members: one member gets 20 partitions,\n"
        "# the two others 10 each"
    ),
    source="RangeAssignor.assignPartitions; AbstractPartitionAssignor.MemberInfo.compareTo for the "
    "order.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        members = at_start(group)
        if len(members) < 2 or selected_assignor(members) != "range":
            continue
        counts = _counts(scenario, members)
        alike = _by_topics(scenario, zip(members, counts))
        for topics, shares in alike.items():
            numbers = [count for _, count in shares]
            most, least = max(numbers), min(numbers)
            if len(topics) < 2 or most - least < 2:
                continue
            rich = [m for m, count in shares if count == most]
            poor = sum(1 for count in numbers if count == least)
            sure = all(is_static(m) for m, _ in shares)
            first = ", ".join(m.name for m in rich[:3]) + (" …" if len(rich) > 3 else "")
            who = first if sure else f"{len(rich)} of {len(shares)} members"
            fair = -(-sum(numbers) // len(numbers))
            yield Finding(
                f"range deals out each of {len(topics)} topics by itself and gives {who} {most} "
                f"partitions, {poor} other{'s' if poor > 1 else ''} "
                f"{least} (evenly it would be {fair} at most) — write "
                "partition.assignment.strategy: [cooperative-sticky]",
                Place("consumer", members[0].name, "partition.assignment.strategy"),
                fix=(("partition.assignment.strategy", "[cooperative-sticky]"),),
            )


def _by_topics(
    scenario: Scenario, shares: Iterable[tuple[Consumer, int]]
) -> dict[tuple[str, ...], list[tuple[Consumer, int]]]:
    """Only members with equal subscriptions can be compared: another's fewer partitions may be what
    it asked for.
    """
    alike: dict[tuple[str, ...], list[tuple[Consumer, int]]] = {}
    for member, count in shares:
        topics = tuple(t.name for t in subscribed(scenario, member))
        alike.setdefault(topics, []).append((member, count))
    return alike


def _counts(scenario: Scenario, members: list[Consumer]) -> list[int]:
    """Partitions per member as range deals them, racks left aside. Dynamic members' order is
    that of their random ids: any will do.
    """
    order = sorted(
        range(len(members)),
        key=lambda n: (
            (0, members[n].config.group_instance_id or "", n)
            if is_static(members[n])
            else (1, "", n)
        ),
    )
    counts = [0] * len(members)
    for topic in scenario.topics:
        if not topic.exists_from_start:
            continue
        readers = [n for n in order if members[n].subscribes_to(topic.name)]
        if not readers:
            continue
        base, extra = divmod(topic.partitions, len(readers))
        for place, n in enumerate(readers):
            counts[n] += base + (1 if place < extra else 0)
    return counts
