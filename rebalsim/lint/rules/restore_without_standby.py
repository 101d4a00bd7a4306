"""State to restore on each move, no standby, and an assignor that moves more than it must."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import at_start, is_classic, say, say_names, selected_assignor, share_of
from rebalsim.lint.figures import restore_us
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

LIMIT_US = 10 * SECOND

RULE = Rule(
    id="restore-without-standby",
    heading="Listeners and state",
    title="Moving a partition means restoring its state from nothing",
    what="Restoring a member's even share of the partitions takes longer than 10 s, and no "
    "standby saves any of it.",
    why="A partition is not consumed until its new owner has restored its state; detection, "
    "barrier and assignment are short beside that. "
    "With range or roundrobin a member's coming or going moves partitions between members that "
    "stay, too, and each of them is restored "
    "somewhere else.",
    fix="Keep standbys (state: standby), use an assignor that keeps owners (cooperative-sticky, "
    "sticky, uniform), and give members a "
    "group.instance.id and state that survives a restart.",
    example=("state: {per_partition: 4GiB, restore: 50MB/s}\n# 86 s per partition that moves"),
    source="Kafka Streams: num.standby.replicas, KIP-441; RangeAssignor and RoundRobinAssignor "
    "keep "
    "no memory of owners.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        members = at_start(group)
        burdened = [
            c
            for c in members
            if c.state.standby_share <= 0
            and restore_us(c, max(1, share_of(scenario, c))) > LIMIT_US
        ]
        if not burdened:
            continue
        first = burdened[0]
        share = max(1, share_of(scenario, first))
        assignor = selected_assignor(members) if is_classic(first) else ""
        advice = "keep standbys"
        if assignor in ("range", "roundrobin"):
            advice += f", and use cooperative-sticky instead of {assignor}, which keeps no owners"
        yield Finding(
            f"each partition that moves takes {say(restore_us(first, 1))} to restore, and the "
            f"{share} of a member {say(restore_us(first, share))} "
            f"({say_names(burdened)}), with no standby — {advice}",
            Place("consumer", first.name, "state"),
        )
