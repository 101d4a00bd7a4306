"""New members join."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Join
from rebalsim.scenario.action_words import apart, who_does
from rebalsim.scenario.common_language import MAX_CONSUMERS, NAME
from rebalsim.scenario.kinds import Field, ListOf, Section, Whole, Written, build
from rebalsim.scenario.member_language import (
    MEMBER_FIELDS,
    TEMPLATE_KEYS,
    one_subscription,
    under_config,
)
from rebalsim.scenario.roster import Roster, Seat
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import IN_GROUP, STAGGER, WORKER_SETTINGS, join_shorthand

SECTION = Section(
    "join",
    (
        Field("count", Whole(1, MAX_CONSUMERS), "How many new members."),
        Field("names", ListOf(NAME, is_lenient=True, least=1), "Their names, instead of a number."),
        STAGGER,
        IN_GROUP,
        *[f for f in MEMBER_FIELDS if f.name != "starts_at"],
        WORKER_SETTINGS,
    ),
    "New members join.",
    shorthand=join_shorthand,
    elsewhere=under_config,
    after=one_subscription,
    can_unset=TEMPLATE_KEYS,
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    roster = script.group_of(written)
    if roster is None:
        script.is_incomplete = True
        return None
    layers = script.resolver.layers(written)
    names = written.get("names")
    if names is not None and "count" in written and written.get("count") != len(names):
        script.out.add(
            written.at["count"],
            f"count: {written.get('count')} goes against {len(names)} names — leave one of "
            "the two out",
        )
    if "names" not in written.at and "count" not in written.at:
        script.out.add(
            written.node, "How many join is not said — write join: 1, or join: {names: [new-0]}"
        )
        script.is_incomplete = True
        return None
    wanted = len(names) if names is not None else written.get("count", 1)
    if not script.has_room(wanted, written.node):
        script.is_incomplete = True
        return None
    coming = [
        _seat(script, roster, written, layers, names[i] if names else "") for i in range(wanted)
    ]
    seats = [seat for seat in coming if seat is not None]
    if not seats:
        return None
    return build(
        Join,
        None,
        consumers=tuple(script.started(roster, s) for s in seats),
        stagger_us=written.get("stagger", 0),
    )


def _seat(
    script: ScriptCast, roster: Roster, written: Written, layers: tuple[Written, ...], name: str
) -> Seat | None:
    """A new member's, by its name or the next one; or that of one that had gone."""
    if not name:
        name, number = script.new_name(roster)
    else:
        number = roster.spare
        known = roster.seats.get(name) or script.resolver.seats.get(name)
        if known is not None and not known.is_running and name in roster.seats:
            known.is_running, known.gone_line = True, 0
            return known
        if known is not None:
            what = f"{name} is in the group already (line {known.node.line})"
            script.out.add(written.at["names"], f"{what} — a new member needs a name of its own")
            return None
        roster.spare += 1
    seat = script.new_seat(roster, name, number, layers, written.node, written)
    if all(_instance_id(layer) is None for layer in layers):
        script.check_static_id(roster, seat)  # one that names the id means it: a story of fencing
    return seat


def _instance_id(layer: Written) -> Any:
    config = layer.get("config")
    return config.get("group.instance.id") if config is not None else None


def say(deed: Join) -> str:
    names = [c.name for c in deed.consumers]
    return who_does(names, "joins", "join") + apart(deed.stagger_us)


ACTION = ScriptAction("join", SECTION, read, {Join: say}, brings_new=True, is_of_streams=True)
