"""The story ends before the group can have noticed the last crash: its pause stays open."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Crash
from rebalsim.lint.facts import (
    heartbeat_us,
    is_static,
    named,
    round_up,
    say,
    say_setting,
    session_us,
)
from rebalsim.lint.figures import high
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, place_of, restart_us

RULE = Rule(
    id="horizon-cuts-detection",
    heading="The story itself",
    title="The horizon ends before a crash is over",
    what="A crash at a fixed time is so late that its session, plus a heartbeat interval for the "
    "others to hear of it, ends after the "
    "horizon.",
    why="A pause that is still open at the horizon is told as open and not measured. Budgets on "
    "it are inconclusive (exit code 3), and "
    "figures over the story leave its longest pause out.",
    fix="Move the horizon behind the last crash by a session and half a minute, or crash earlier.",
    example=("horizon: 2m\n# a crash at 1m40s, session.timeout.ms: 45s → horizon: 3m"),
    source="rebalsim's contract of a pause; detection as in budget-under-detection.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, deed in deeds_of(scenario, Crash):
        if action.after is not None or action.when is not None:
            continue
        last = action.at_us + (action.every_us or 0) * (max(1, action.times) - 1)
        ends = 0
        for consumer in named(scenario, deed.consumers):
            session = session_us(scenario, consumer)
            if (
                is_static(consumer)
                and deed.restart_after is not None
                and restart_us(consumer, high(deed.restart_after)) < session
            ):
                continue
            ends = max(ends, last + session + heartbeat_us(scenario, consumer))
        if ends > scenario.horizon_us:
            yield Finding(
                f"the crash at {say(last)} may be unnoticed until {say(ends)}, and the horizon "
                f"is {say(scenario.horizon_us)}: its pause would "
                "stay open and unmeasured — write horizon: "
                f"{say_setting(round_up(ends + 30 * SECOND, 30 * SECOND))}",
                place_of(action),
            )
