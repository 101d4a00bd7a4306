"""A session shorter than three heartbeats: one lost packet or one long GC pause expels a healthy
member.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import MS, SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import alike, everyone, is_classic, say, say_names, say_setting
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="session-under-three-heartbeats",
    heading="Timers against each other",
    title="The session is shorter than three heartbeats",
    what="session.timeout.ms is less than three times heartbeat.interval.ms (classic protocol).",
    why="The coordinator expels a member when it has heard nothing for session.timeout.ms. With "
    "fewer than three heartbeats in that time, "
    "a single one that is lost or late leaves no second chance; the member was healthy, and the "
    "whole group rebalances twice: once "
    "without it, once when it is back.",
    fix="Lower heartbeat.interval.ms to a third of the session or less (a heartbeat costs next "
    "to nothing), or lengthen the session.",
    example="session.timeout.ms: 10s\nheartbeat.interval.ms: 5s     # → 3s",
    source="ConsumerConfig, heartbeat.interval.ms: “typically should be set no higher than 1/3 of "
    "that value”.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    consumers = [c for c in everyone(scenario) if is_classic(c)]
    for (session, beat), who in alike(
        consumers, lambda c: (c.config.session_timeout_us, c.config.heartbeat_interval_us)
    ):
        if session < 3 * beat:
            yield Finding(
                f"heartbeat.interval.ms {say(beat)} fits less than three times into "
                f"session.timeout.ms {say(session)}: one late heartbeat "
                f"expels a healthy member of {say_names(who)} — write heartbeat.interval.ms: "
                f"{say_setting(_third(session))} or "
                f"less, or session.timeout.ms: {say_setting(3 * beat)} or more",
                Place("consumer", who[0].name, "heartbeat.interval.ms|session.timeout.ms"),
                fix=(("heartbeat.interval.ms", say_setting(_third(session))),),
            )


def _third(session_us: int) -> int:
    """A third of the session as one would write it: whole seconds, or milliseconds below one."""
    step = SECOND if session_us >= 3 * SECOND else MS
    return max(MS, session_us // 3 // step * step)
