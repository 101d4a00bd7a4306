"""The rebalance timeout leaves no time to hear of a rebalance and finish a batch: members are
thrown out at each one.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import (
    alike,
    at_start,
    full_batch,
    holds_up,
    protocol_of,
    round_up,
    say,
    say_names,
    say_setting,
    share_of,
    work_of,
)
from rebalsim.lint.figures import revoke_us, worst_batch_us
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="rebalance-timeout-unmeetable",
    heading="Timers against each other",
    title="The rebalance timeout is shorter than a member needs to join",
    what="A heartbeat interval, plus the likely worst batch, plus the revoke callback (eager) "
    "take longer than the group's longest "
    "max.poll.interval.ms, though the batch alone does not.",
    why="max.poll.interval.ms is also the rebalance timeout. A member hears of a rebalance at "
    "its next heartbeat, finishes its batch, runs "
    "the callback and then joins. If that is too long, the coordinator goes on without it, it "
    "comes back as a new member, and that is "
    "the next rebalance, at which another one is late: the group may never settle.",
    fix="Lower max.poll.records or heartbeat.interval.ms, or raise max.poll.interval.ms to at "
    "least twice the worst batch.",
    example="max.poll.interval.ms: 10s, heartbeat.interval.ms: 3s\na batch of up to 8 s          "
    "    "
    "# 3 + 8 > 10",
    source="GroupMetadataManager.completeClassicGroupJoin removes dynamic members that have not "
    "rejoined.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        members = [c for c in at_start(group) if holds_up(c)]
        if len(members) < 2:
            continue
        limit = max(
            c.habits.rebalance_timeout_of(
                c.config.session_timeout_us, c.config.max_poll_interval_us
            )
            for c in members
        )
        late: list[tuple[float, list[Consumer]]] = []
        for _, who in alike(
            members, lambda c: (c.config, c.handler, c.listener.revoked, c.state, work_of(c))
        ):
            consumer = who[0]
            batch = worst_batch_us(scenario, consumer.handler, full_batch(scenario, consumer))
            callback = (
                revoke_us(consumer, share_of(scenario, consumer))
                if protocol_of(consumer) == "eager"
                else 0.0
            )
            needs = consumer.config.heartbeat_interval_us + batch + callback
            if batch <= consumer.config.max_poll_interval_us and needs > limit:
                late.append((needs, who))
        if late:
            needs = max(n for n, _ in late)
            yield Finding(
                f"{say_names([c for _, who in late for c in who])} may need {say(needs)} to hear "
                "of a rebalance, finish a batch and join, and the rebalance "
                f"timeout (max.poll.interval.ms) is {say(limit)}: thrown out, it returns and "
                "triggers the next one — write "
                f"max.poll.interval.ms: {say_setting(round_up(2 * needs, 5 * SECOND))}, or a "
                "smaller max.poll.records",
                Place(
                    "consumer",
                    late[0][1][0].name,
                    "max.poll.interval.ms|max.poll.records|per_record|handler",
                ),
                fix=(("max.poll.interval.ms", say_setting(round_up(2 * needs, 5 * SECOND))),),
            )
