"""Cooperative members with a long heartbeat interval: moved partitions wait a whole interval for
the second round.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import alike, everyone, protocol_of, say, say_names
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

LIMIT_US = 5 * SECOND

RULE = Rule(
    id="slow-cooperative-heartbeat",
    heading="Timers against each other",
    title="A cooperative hand-over waits for a long heartbeat interval",
    what="Members are cooperative and heartbeat.interval.ms is longer than 5 s.",
    why="A partition that moves is given up in the first round and handed over in the second. "
    "Those that gave something up join the second "
    "round at once; all others hear of it at their next heartbeat, and all heartbeats start "
    "together when the first round ends. So a "
    "moved partition stands still for nearly a whole heartbeat interval: not half of it, and not "
    "by chance.",
    fix="Write heartbeat.interval.ms: 3s, or 1s where pauses matter; heartbeats are cheap. It is "
    "not the session that this changes.",
    example=("heartbeat.interval.ms: 15s\n# each moved partition stands still for about 15 s"),
    source="AbstractCoordinator.HeartbeatThread is enabled by the JoinGroup answer with a full "
    "interval; KIP-429.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    cooperative = [c for c in everyone(scenario) if protocol_of(c) == "cooperative"]
    for beat, who in alike(cooperative, lambda c: c.config.heartbeat_interval_us):
        if beat > LIMIT_US:
            yield Finding(
                f"heartbeat.interval.ms {say(beat)} is about how long each partition that moves "
                f"between {say_names(who)} stands still: the "
                "second round of a cooperative hand-over is heard of at the next heartbeat — "
                "write heartbeat.interval.ms: 3s",
                Place("consumer", who[0].name, "heartbeat.interval.ms"),
                fix=(("heartbeat.interval.ms", "3s"),),
            )
