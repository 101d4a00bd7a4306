"""A handler may get stuck, and max.poll.interval.ms lets it hold the group for long."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer, Handler
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Hang
from rebalsim.lint.facts import (
    alike,
    full_batch,
    holds_up,
    named,
    round_up,
    say,
    say_names,
    say_setting,
    usual_members,
    work_of,
)
from rebalsim.lint.figures import high, worst_batch_us
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import strikes_of
from rebalsim.words.lists import verb

LIMIT_US = 30 * SECOND

RULE = Rule(
    id="stuck-handler-holds-barrier",
    heading="Faults",
    title="A stuck handler holds the whole group for long",
    what="The story has handlers that hang (in the script or at random), and max.poll.interval.ms "
    "would let one hold the barrier for more "
    "than 30 s, although it is more than five times the likely worst batch.",
    why="The heartbeat thread goes on while the handler is stuck, so the session never runs out. "
    "Any rebalance that begins meanwhile waits "
    "for the stuck member until it polls again or its max.poll.interval.ms is over; eager "
    "members have given up everything by then. "
    "Measured on real Kafka: 300 s with the default.",
    fix="Set max.poll.interval.ms to two or three times the worst batch. Bound the handler's own "
    "waits (timeouts on calls).",
    example="max.poll.interval.ms: 5m         # worst batch 4 s → 30s",
    source="ClassicGroup.rebalanceTimeoutMs; AbstractCoordinator (max.poll.interval.ms is sent as "
    "rebalance timeout); KIP-62.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    def figures(c: Consumer) -> tuple[int, Handler, int, object]:
        timeout_us = c.habits.rebalance_timeout_of(
            c.config.session_timeout_us, c.config.max_poll_interval_us
        )
        return timeout_us, c.handler, c.config.max_poll_records, work_of(c)

    for hang in strikes_of(scenario, Hang):
        for (limit, handler, *_), who in alike(
            [c for c in named(scenario, hang.consumers) if holds_up(c)], figures
        ):
            if usual_members(scenario, who[0]) < 2:
                continue
            worst = worst_batch_us(scenario, handler, full_batch(scenario, who[0]))
            held = min(high(hang.for_), limit)
            suggestion = round_up(max(3 * worst, LIMIT_US), 5 * SECOND)
            if held > LIMIT_US and limit > 5 * worst and suggestion < limit:
                yield Finding(
                    f"while {say_names(who)} {verb(who, 'hangs', 'hang')}, a rebalance waits for "
                    f"up to {say(held)} (max.poll.interval.ms "
                    f"{say(limit)}), though the "
                    f"worst batch takes {say(worst)} — write max.poll.interval.ms: "
                    f"{say_setting(suggestion)}",
                    hang.place,
                    fix=(("max.poll.interval.ms", say_setting(suggestion)),),
                )
