"""The group as a whole is quick enough, and its members with the most partitions are not:
partitions come whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import (
    at_start,
    average_rate,
    partitions_of_group,
    service_us,
    share_of,
    subscribed,
)
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="uneven-share",
    heading="Handlers and commits",
    title="Members with the most partitions get more than they can handle",
    what="All members together handle what arrives, but partitions do not divide evenly, and a "
    "member with one partition more than others gets "
    "more records a second on average than it handles.",
    why="A partition is never shared, so what counts is the fullest member, not the sum: its lag "
    "grows for ever while others wait for work, "
    "and one member more or less changes nothing until everybody can hold one partition less.",
    fix="As many members that each holds one partition less, more partitions (so that one weighs "
    "less), or a quicker handler.",
    example="topics: 200 partitions, 3000/s\nmembers: 64, handler 20 ms   # eight get 4 "
    "partitions, "
    "60/s, and handle 50/s",
    source="Arithmetic; Kafka's assignors spread the number of partitions.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        members = at_start(group)
        # Members that differ in what they read or cost have no one number that would do.
        if (
            not members
            or len({(c.topics, c.pattern) for c in members}) > 1
            or len({service_us(scenario, c) for c in members}) > 1
        ):
            continue
        one, partitions = members[0], partitions_of_group(scenario, group)
        service, arriving = (
            service_us(scenario, one),
            sum(average_rate(scenario, t) for t in subscribed(scenario, one)),
        )
        most = share_of(scenario, one)
        if (
            not service
            or not arriving
            or not partitions
            or arriving > min(len(members), partitions) * 1e6 / service
        ):
            continue  # too slow as a whole: another rule's
        each, per_second = arriving / partitions, 1e6 / service
        if most * each <= per_second:
            continue
        can = int(per_second / each)
        remedy = (
            f"use {-(-partitions // can)} members, so that none holds more than {can}"
            if can
            else "use more partitions, for one alone is too much"
        )
        yield Finding(
            f"{partitions} partitions for {len(members)} members are up to {most} each, and "
            f"{most * each:,.0f} records/s then arrive for one member of "
            f"{group.name}, which handles {per_second:,.0f}/s at best: its lag grows for ever "
            f"though the group as a whole is quick enough — {remedy}, "
            "or make the handler quicker",
            Place("group", group.name, "members|handler"),
        )
