"""Dynamic members restarted under stable names: each restart costs two disturbances that a
static id would save.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import RollingBounce
from rebalsim.lint.facts import (
    heartbeat_us,
    is_static,
    named,
    round_up,
    say,
    say_names,
    say_setting,
    session_key,
    session_us,
)
from rebalsim.lint.figures import high
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, place_of, restart_us

RULE = Rule(
    id="dynamic-in-statefulset",
    heading="Deploys and scaling",
    title="Dynamic members are restarted under stable names",
    what="A rolling bounce restarts consumers in place, as a StatefulSet does (no surge, same "
    "names), and they have no group.instance.id.",
    why="A dynamic member leaves when it closes and comes back as a stranger: two disturbances "
    "per restart. A static member that is back "
    "before its session runs out causes none: it takes its old assignment up again and nobody "
    "else notices.",
    fix="Take group.instance.id from the pod's name and make session.timeout.ms longer than a "
    "restart takes at worst. The price: a member "
    "that dies for good is noticed that much later.",
    example='group.instance.id: "{name}"\nsession.timeout.ms: 60s         # a restart takes up '
    "to 40 "
    "s",
    source="KIP-345; GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, deed in deeds_of(scenario, RollingBounce):
        if deed.surge or deed.surge_consumers:
            continue
        static_later = {c.name: True for c in deed.deploy.consumers if is_static(c)}
        strangers = [
            c
            for c in named(scenario, deed.consumers)
            if not is_static(c) and c.name not in static_later
        ]
        if not strangers:
            continue
        count = len(strangers) * max(1, action.times)
        away = max(restart_us(c, 0.0 if deed.down is None else high(deed.down)) for c in strangers)
        session = session_us(scenario, strangers[0])
        needed = round_up(1.25 * away + heartbeat_us(scenario, strangers[0]), 5 * SECOND)
        also = (
            ""
            if session >= needed
            else f" and {session_key(strangers[0])}: {say_setting(needed)} (a restart takes up to "
            f"{say(away)})"
        )
        yield Finding(
            f"restarting {say_names(strangers)} in place without group.instance.id makes up to "
            f"{2 * count} disturbances: each leaves and comes "
            f'back as a stranger — give each its own group.instance.id ("{{name}}" takes the '
            f"pod's name){also}",
            place_of(action),
        )
