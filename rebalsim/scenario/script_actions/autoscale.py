"""An autoscaler decides how many members there are."""

from __future__ import annotations

from rebalsim.domain.autoscaling import Autoscale
from rebalsim.domain.deed import Deed
from rebalsim.scenario.autoscaling import AUTOSCALE, read_autoscale
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast

SECTION = AUTOSCALE


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    """Whom the autoscaler may start: those that are away by then, and as many new ones as it
    may ever want. None of them counts as running: that is decided as the story goes.
    """
    roster = script.group_of(written)
    if roster is None:
        return None
    wanted = written.get("maxReplicaCount", 10) - len(roster.running)
    if wanted > 0 and not script.has_room(wanted, written.node):
        script.is_incomplete = True
        return None
    seats = [s for s in roster.seats.values() if s.gone_how != "replaced"]
    for _ in range(max(0, wanted)):
        name, number = script.new_name(roster)
        seat = script.new_seat(roster, name, number, (), written.node, None)
        seat.is_running, seat.gone_line = False, line
        seat.gone_how = "only the autoscaler starts it"
        seats.append(seat)
    return read_autoscale(written, roster.group, tuple(script.started(roster, s) for s in seats))


def say(deed: Autoscale) -> str:
    by = (
        f"how busy they are (target {deed.cpu_target:.0%})"
        if deed.cpu_target is not None
        else f"lag (threshold {deed.lag_threshold:g})"
    )
    return f"an autoscaler keeps {deed.least} to {deed.most} members by {by}"


ACTION = ScriptAction("autoscale", SECTION, read, {Autoscale: say})
