"""Members of one group with different max.poll.interval.ms: the largest is everybody's rebalance
timeout.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import alike, at_start, is_classic, say, say_names, say_setting
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="uneven-poll-intervals",
    heading="Timers against each other",
    title="The longest max.poll.interval.ms is everybody's rebalance timeout",
    what="Members of one classic group have different max.poll.interval.ms.",
    why="A member sends max.poll.interval.ms as its rebalance timeout, and the coordinator's "
    "join timer is the longest of all members. "
    "Those with a short one wait at the barrier for a slow member for as long as the longest "
    "allows.",
    fix="Give all members of a group the same max.poll.interval.ms, and applications that need "
    "another one a group of their own.",
    example="a, b: max.poll.interval.ms: 1m\nbatch: max.poll.interval.ms: 30m  # a and b may "
    "wait 30 "
    "minutes",
    source="ClassicGroup.rebalanceTimeoutMs: the maximum over the members.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        kinds = dict(
            alike(
                [c for c in at_start(group) if is_classic(c) and c.habits.has_poll_limit],
                lambda c: c.config.max_poll_interval_us,
            )
        )
        if len(kinds) > 1:
            longest, shortest = max(kinds), min(kinds)
            yield Finding(
                f"max.poll.interval.ms is {say(longest)} for {say_names(kinds[longest])} and "
                f"{say(shortest)} for {say_names(kinds[shortest])}: in "
                f"group {group.name} the barrier waits up to {say(longest)} for a slow member, "
                "whoever it is — write max.poll.interval.ms: "
                f"{say_setting(shortest)} for all, or split the group",
                Place("consumer", kinds[longest][0].name, "max.poll.interval.ms"),
                fix=(("max.poll.interval.ms", say_setting(shortest)),),
            )
