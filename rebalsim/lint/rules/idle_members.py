"""More members than partitions: some have nothing to do, and still cost a rebalance when they
come and go.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import (
    at_start,
    partitions_of_group,
    peak_members,
    selected_assignor,
    topics_read_by,
)
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="idle-members",
    heading="Assignors and groups",
    title="More members than partitions",
    what="A group has, at its largest, more members than partitions to read. With range each "
    "topic is dealt out separately, so there the "
    "topic with the most partitions is the limit.",
    why="A partition has one owner. Members beyond that number own nothing, but each of them "
    "joins, heartbeats, is waited for at every "
    "barrier, and triggers a rebalance when it comes or goes.",
    fix="Run no more members than partitions, add partitions beforehand, or (with range over "
    "several topics) use cooperative-sticky. A "
    "spare that takes over quickly is a good reason to keep one.",
    example="topics: orders with 8 partitions\nmembers: 10                    # 2 own nothing",
    source="Every assignor of Kafka; RangeAssignor works topic by topic.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        members = at_start(group) or list(group.consumers)
        most = peak_members(scenario, group)
        total = partitions_of_group(scenario, group)
        topics = [t.partitions for t in topics_read_by(scenario, members)]
        by_topic = selected_assignor(members) == "range"
        useful = max(topics, default=0) if by_topic else total
        if not topics or most <= useful:
            continue
        limit = (
            f"range fills at most {useful} of them (topic by topic)"
            if by_topic and len(topics) > 1
            else f"there are {useful} partitions"
        )
        advice = f"use {useful} members" + (
            ", or cooperative-sticky" if by_topic and total > useful else ", or add partitions"
        )
        yield Finding(
            f"{most} members in group {group.name}, and {limit}: {most - useful} own nothing, "
            f"yet each of them can trigger a rebalance — {advice}",
            Place("group", group.name, "members"),
        )
