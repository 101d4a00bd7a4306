"""The group is brought to so many members."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Scale
from rebalsim.scenario.action_words import apart, who_does
from rebalsim.scenario.common_language import MAX_CONSUMERS, word_of
from rebalsim.scenario.kinds import Field, Section, Whole, Written, build
from rebalsim.scenario.roster import Seat
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import IN_GROUP, STAGGER

SECTION = Section(
    "scale",
    (
        Field(
            "to",
            Whole(0, MAX_CONSUMERS),
            "How many members there are then.",
            target="to",
            is_required=True,
        ),
        STAGGER,
        IN_GROUP,
    ),
    "Bring the group to so many members: new ones join, or the last ones leave.",
    shorthand=word_of("to"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    roster = script.group_of(written)
    if roster is None:
        return None
    to = written.get("to")
    running = roster.running
    joiners: list[Seat] = []
    if to > len(running):
        if not script.has_room(to - len(running), written.node):
            script.is_incomplete = True
            return None
        back = [s for s in roster.seats.values() if not s.is_running and s.gone_how != "replaced"]
        for seat in back[: to - len(running)]:
            seat.is_running, seat.gone_line = True, 0
            joiners.append(seat)
        while len(joiners) < to - len(running):
            name, number = script.new_name(roster)
            joiners.append(script.new_seat(roster, name, number, (), written.node, None))
            script.check_static_id(roster, joiners[-1])
    else:
        for seat in running[to:]:
            seat.is_running, seat.gone_line, seat.gone_how = (
                False,
                line,
                f"the group is scaled to {to}",
            )
    return build(
        Scale,
        written,
        group=roster.group,
        joiners=tuple(script.started(roster, s) for s in joiners),
    )


def say(deed: Scale) -> str:
    joiners = [c.name for c in deed.joiners]
    come = f": {who_does(joiners, 'joins', 'join')}" if joiners else ": the last ones leave"
    return f"scale to {deed.to}{come}{apart(deed.stagger_us)}"


ACTION = ScriptAction("scale", SECTION, read, {Scale: say}, is_of_streams=True)
