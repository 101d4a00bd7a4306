"""The grace period is shorter than the stop: the process is killed, and its session has to
run out.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer, Cost, State
from rebalsim.domain.instants import SECOND
from rebalsim.domain.pods import Life
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import (
    alike,
    everyone,
    round_up,
    say,
    say_names,
    say_setting,
    session_us,
    share_of,
    work_of,
)
from rebalsim.lint.figures import high, revoke_us
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="grace-under-stop",
    heading="Deploys and scaling",
    title="The process is killed before it has stopped",
    what="The stop time at its likely worst, plus the revoke callback in close(), is longer than "
    "the grace period.",
    why="At the end of the grace period comes SIGKILL. A killed consumer has sent no LeaveGroup "
    "and may not have committed: the group learns "
    "of it only when the session runs out, and the partitions stand still until then. A deploy "
    "of ten pods then costs ten sessions "
    "instead of ten quick leaves.",
    fix="Raise the grace period (terminationGracePeriodSeconds) above the slowest stop, or stop "
    "sooner: wakeup() the consumer at SIGTERM, "
    "smaller batches, a bounded close(Duration).",
    example="life: {stop: 40s, grace: 30s}     # killed at 30 s, then 45 s of session",
    source="KafkaConsumer.close sends LeaveGroup last; a killed process sends nothing.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    def figures(c: Consumer) -> tuple[Life, int, Cost, State, object]:
        return c.life, session_us(scenario, c), c.listener.revoked, c.state, work_of(c)

    for (life, session, *_), who in alike(everyone(scenario), figures):
        takes = high(life.stop) + revoke_us(who[0], share_of(scenario, who[0]))
        if takes > life.grace_us:
            yield Finding(
                f"stopping takes {say_names(who)} up to {say(takes)}, longer than the grace "
                f"period of {say(life.grace_us)}: killed without "
                f"LeaveGroup, its partitions stand still for the session of {say(session)} — "
                "write life: grace: "
                f"{say_setting(round_up(1.25 * takes, 5 * SECOND))}, or stop sooner",
                Place("consumer", who[0].name, "grace|stop|life"),
                fix=(("life.grace", say_setting(round_up(1.25 * takes, 5 * SECOND))),),
            )
