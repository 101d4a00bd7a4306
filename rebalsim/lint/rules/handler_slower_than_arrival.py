"""The group's handlers together are slower than records arrive: it never catches up, whatever
the rebalance costs.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import (
    at_start,
    average_rate,
    partitions_of_group,
    peak_members,
    service_us,
    topics_read_by,
)
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="handler-slower-than-arrival",
    heading="Handlers and commits",
    title="Records arrive faster than the group handles them",
    what="All members together, each at full batches, handle fewer records a second than arrive "
    "on average over the story (members "
    "beyond the number of partitions are not counted).",
    why="A lag that grows without any rebalance is never made up: every pause adds to it for "
    "good, batches are always full, and each "
    "rebalance waits for one of them.",
    fix="Add members (and partitions, if there are no more partitions than members), make the "
    "handler quicker, or check the rate.",
    example="topics: orders at 1200/s\nmembers: 3, handler 5 ms a record   # 600/s at best",
    source="Arithmetic; one member handles its partitions' records one after another in its poll "
    "loop.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        members = at_start(group) or list(group.consumers)
        if not members:
            continue
        topics = topics_read_by(scenario, members)
        arriving = sum(average_rate(scenario, t) for t in topics)
        working = min(
            max(peak_members(scenario, group), len(members)), partitions_of_group(scenario, group)
        )
        costs = [service_us(scenario, c) for c in members]
        if not arriving or not all(costs):
            continue
        each = sum(1e6 / cost for cost in costs) / len(costs)
        capacity = each * working
        if capacity < arriving:
            yield Finding(
                f"{arriving:,.0f} records/s arrive for group {group.name}, and its {working} "
                f"working member{'s' if working > 1 else ''} handle "
                f"{capacity:,.0f}/s at best ({each:,.0f} each): the lag grows by "
                f"{arriving - capacity:,.0f} records every second, rebalance or "
                f"not — use {int(arriving / each) + 1} members on at least as many partitions, "
                "or make the handler quicker",
                Place("group", group.name, "handler|members"),
            )
