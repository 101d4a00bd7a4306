"""A handler is stuck when its process is asked to stop, and for longer than the grace: it is
killed.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Action, Hang, Leave, RollingBounce
from rebalsim.lint.facts import alike, named, round_up, say, say_names, say_setting, session_us
from rebalsim.lint.figures import high, low
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import place_of
from rebalsim.words.lists import verb

RULE = Rule(
    id="hang-outlasts-grace",
    heading="Deploys and scaling",
    title="A stuck handler's process is killed when its grace is over",
    what="The script hangs a handler and asks its process to stop meanwhile (leave, "
    "rolling_bounce, deploy), and the handler is stuck for longer after that than life.grace.",
    why="close() can only begin when the handler has returned. At the end of the grace period "
    "comes SIGKILL: the hang ends then, however long it was to be, nothing of the batch is "
    "committed, and no LeaveGroup is sent, so that the group waits for the session to run out "
    "unless the process is back before.",
    fix="Raise the grace period (terminationGracePeriodSeconds) above the longest that a handler "
    "is stuck, or bound the handler's own waits (timeouts on calls); or end the hang before the "
    "stop, if the story means something else.",
    example="hang: {members: c0, for: 6m}       # at 1m\nrolling_bounce: {down: 10s}        # at 80s,"
    " grace 30s: killed at 1m50s",
    source="A Kubernetes pod is sent SIGKILL after terminationGracePeriodSeconds; "
    "KafkaConsumer.close runs in the thread that polls.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action in scenario.script:
        if not isinstance(action.deed, Hang) or not action.has_moment:
            continue
        ends, begins = action.at_us + high(action.deed.for_), action.at_us

        def figures(c: Consumer, begins: int = begins) -> tuple[int, int, int]:
            return _asked_us(scenario, c, begins), c.life.grace_us, session_us(scenario, c)

        for (asked, grace, session), who in alike(named(scenario, action.deed.consumers), figures):
            if asked < 0 or asked + grace >= ends:
                continue
            yield Finding(
                f"{say_names(who)} {verb(who, 'is', 'are')} stuck until {say(ends)}, and asked to "
                f"stop at {say(asked)} already: killed at {say(asked + grace)}, when the grace of "
                f"{say(grace)} is over, without LeaveGroup (the session is {say(session)}) — "
                "write life: grace: "
                f"{say_setting(round_up(ends - asked, 5 * SECOND))}, or end the hang before",
                place_of(action),
            )


def _asked_us(scenario: Scenario, consumer: Consumer, from_us: int) -> int:
    """The soonest that an action of the script asks it to stop from this instant on; −1: none
    does.
    """
    found = [
        at
        for action in scenario.script
        for at in [_asked_by(action, consumer, scenario)]
        if at >= from_us
    ]
    return min(found, default=-1)


def _asked_by(action: Action, consumer: Consumer, scenario: Scenario) -> int:
    """When this action asks it to stop, at the soonest: the others of a bounce come before it."""
    deed = action.deed
    if not action.has_moment or not isinstance(deed, Leave | RollingBounce):
        return -1
    if consumer.name not in deed.consumers:
        return -1
    place = deed.consumers.index(consumer.name)
    if isinstance(deed, Leave):
        return action.at_us + place * deed.stagger_us
    before = named(scenario, deed.consumers[: place // max(1, deed.max_unavailable)])
    down = low(deed.down) if deed.down is not None else 0.0
    each = deed.settle_us + deed.ready_after_us + down
    return action.at_us + round(
        len(before) * each + sum(low(c.life.stop) + low(c.life.start) for c in before)
    )
