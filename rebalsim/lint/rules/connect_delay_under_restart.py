"""Kafka Connect's delay ends before a restarted worker is back: its tasks move twice."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.connect_facts import incremental_config, restarts_of
from rebalsim.lint.facts import round_up, say, say_setting
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

KEY = "scheduled.rebalance.max.delay.ms"
RULE = Rule(
    id="connect-delay-under-restart",
    heading="Kafka Connect",
    title="The delay is over before a restarted worker is back",
    what="The script restarts a Connect worker that needs longer for it than "
    "scheduled.rebalance.max.delay.ms.",
    why="The delay exists so that a restart moves nothing. One that ends before the worker is "
    "back gives its tasks to others, and when it returns the load is evened out: what moves "
    "stands still twice, and waits for two rounds each time.",
    fix="Make the delay a little longer than the restart, or 0 where tasks start quickly and a "
    "lost worker must not be waited for at all.",
    example="scheduled.rebalance.max.delay.ms: 10s      # and a worker is back after 45 s",
    source="IncrementalCooperativeAssignor.handleLostAssignments (KIP-415).",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    config = incremental_config(scenario)
    if config is None:
        return
    delay = config.scheduled_rebalance_max_delay_us
    longest = max(restarts_of(scenario), key=lambda r: r[1], default=None)
    if longest is not None and 0 < delay < longest[1]:
        name, away, _ = longest
        yield Finding(
            f"{name} is back {say(away)} after it stops, and {KEY} is {say(delay)}: its tasks are "
            f"given away before, and move back after — write "
            f"{say_setting(round_up(1.25 * away, 5 * SECOND))}, or 0 to wait for nobody",
            Place("connect", "", KEY),
            fix=((KEY, say_setting(round_up(1.25 * away, 5 * SECOND))),),
        )
