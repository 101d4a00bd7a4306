"""More members than group.max.size: the last ones are refused for good."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import at_start, is_classic, peak_members
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="group-over-max-size",
    heading="Assignors and groups",
    title="The group grows beyond group.max.size",
    what="At its largest the group has more members than the brokers allow (group.max.size, or "
    "group.consumer.max.size under the consumer "
    "protocol).",
    why="A JoinGroup beyond the limit gets GROUP_MAX_SIZE_REACHED, which ends the consumer. The "
    "supervisor restarts it, and it is refused "
    "again: a crash loop that no rebalance cures.",
    fix="Raise the limit on the brokers, or run fewer members.",
    example="group.max.size: 20\nmembers: 24                      # 4 are refused",
    source="GroupMetadataManager.acceptJoiningMember; KIP-389.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    config = scenario.cluster.config
    for group in scenario.groups:
        members = at_start(group) or list(group.consumers)
        if not members:
            continue
        classic = is_classic(members[0])
        key, limit = (
            ("group.max.size", config.group_max_size)
            if classic
            else ("group.consumer.max.size", config.group_consumer_max_size)
        )
        most = peak_members(scenario, group)
        if most > limit:
            yield Finding(
                f"group {group.name} grows to {most} members and {key} is {limit}: "
                f"{most - limit} are refused (GROUP_MAX_SIZE_REACHED) and die "
                f"— write {key}: {most}, or run fewer",
                Place("cluster", key=key),
            )
