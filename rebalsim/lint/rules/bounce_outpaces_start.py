"""A rolling bounce that goes on before the restarted member is back: more are away than one
thinks.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import RollingBounce
from rebalsim.lint.facts import (
    heartbeat_us,
    is_static,
    mean_start_us,
    named,
    round_up,
    say,
    say_setting,
)
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, of_action, place_of

RULE = Rule(
    id="bounce-outpaces-start",
    heading="Deploys and scaling",
    title="A rolling bounce goes on before the restarted member is back",
    what="A bounce counts a restarted consumer as ready, and lets it settle, for less than it "
    "takes on average to start (for dynamic "
    "members: plus a heartbeat interval, in which the others hear of it).",
    why="The next member stops while the last one is not back. Then more are away at once than "
    "max_unavailable says, the group is taken "
    "through overlapping rebalances (each waits for members that are just leaving or joining), "
    "and the last members carry everybody's "
    "partitions.",
    fix="Make readiness mean it: ready_when: assigned, or ready_after above the start time; add "
    "a settle time of a few heartbeats.",
    example="life: {start: 20s}\nrolling_bounce: {ready_after: 5s}    # → 25s, or ready_when: "
    "assigned",
    source="A Kubernetes readiness probe that does not look at the consumer; the group itself does "
    "not limit who is away.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, deed in deeds_of(scenario, RollingBounce):
        members = named(scenario, deed.consumers)
        is_at_once = len(deed.consumers) <= max(1, deed.max_unavailable)
        if deed.ready_when_assigned or is_at_once or not members:
            continue
        start = max(mean_start_us(c) for c in members)
        dynamic = [c for c in members if not is_static(c)]
        beat = max((heartbeat_us(scenario, c) for c in dynamic), default=0)
        waited = deed.ready_after_us + deed.settle_us
        if waited < start + beat and (start or beat):
            why = [f"its start takes {say(start)}"] if start else []
            why += [f"the others hear of it up to {say(beat)} later"] if beat else []
            away = max(1, deed.max_unavailable)
            what = "consumer" if members[0].worker is None else "worker"
            yield Finding(
                f"the bounce goes on {say(waited) if waited else 'at once'} after a {what} was "
                f"started, but {' and '.join(why)}: more than {away} "
                f"{'is' if away == 1 else 'are'} away at once, and "
                "rebalances overlap — write ready_when: assigned, or "
                f"ready_after: {say_setting(round_up(start + beat, SECOND))}",
                place_of(action),
                fix=((of_action(action, "ready_when"), "assigned"),),
            )
