"""The leader needs longer for the assignment than followers wait for SyncGroup: the rebalance
starts over.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.draws import most_of
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import (
    at_start,
    is_classic,
    partitions_of_group,
    peak_members,
    round_up,
    say,
    say_setting,
)
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="sync-timeout-under-assignor",
    heading="Timers against each other",
    title="Computing the assignment outlasts request.timeout.ms",
    what="The leader's time for an assignment (fixed, plus members × partitions) is longer than "
    "the shortest request.timeout.ms in the "
    "group, for the group at its largest.",
    why="JoinGroup may wait as long as max.poll.interval.ms, but SyncGroup has the ordinary "
    "request.timeout.ms. While the leader computes, "
    "followers wait in SyncGroup; when it times out they disconnect and join again, which starts "
    "the rebalance over, with the same "
    "computation at its end.",
    fix="Raise request.timeout.ms above the computation, use a cheaper assignor, or the consumer "
    "protocol, where the broker computes.",
    example="1,800 members × 3,600 partitions with an assignor that needs 240 "
    "s\nrequest.timeout.ms: "
    "30s",
    source="AbstractCoordinator.sendSyncGroupRequest uses the default request timeout, "
    "sendJoinGroupRequest does not.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        members = [c for c in at_start(group) if is_classic(c)]
        if len(members) < 2:
            continue
        most, partitions = peak_members(scenario, group), partitions_of_group(scenario, group)
        takes = max(
            most_of(c.assignor_cost.fixed)
            + c.assignor_cost.per_member_partition_us * most * partitions
            for c in members
        )
        shortest = min(members, key=lambda c: c.config.request_timeout_us)
        limit = shortest.config.request_timeout_us
        enough = say_setting(round_up(1.5 * takes))
        if takes > limit:
            yield Finding(
                f"the leader of {group.name} computes for {say(takes)} over {most} members and "
                f"{partitions} partitions, and followers wait in "
                f"SyncGroup only for request.timeout.ms {say(limit)}: they rejoin and it starts "
                "over — write request.timeout.ms: "
                f"{enough}, or a cheaper assignor",
                Place("consumer", shortest.name, "request.timeout.ms"),
                fix=(("request.timeout.ms", enough),),
            )
