"""Pods that are moved to another node, and by whom they are replaced."""

from __future__ import annotations

from typing import Any

from rebalsim.scenario.kinds import Written
from rebalsim.scenario.rolling import replacements
from rebalsim.scenario.roster import Roster, Seat
from rebalsim.scenario.script_cast import ScriptCast


def moved(
    script: ScriptCast, written: Written, line: int
) -> tuple[Roster, tuple[str, ...], tuple[Any, ...], int] | None:
    """Who is moved, and by whom they are replaced: new names in a Deployment."""
    found = script.seats_of(written, together=True)
    if not found:
        return None
    roster = found[0][0]
    replicas = len(roster.running)
    seats = [s for r, s in found if r is roster]
    stand_ins: list[Seat] = []
    if written.get("kind", "Deployment") == "Deployment":
        if not script.has_room(len(seats), written.node):
            return None
        stand_ins = replacements(script, roster, seats, written.node, line)
    specs = tuple(script.started(roster, s) for s in stand_ins)
    return roster, tuple(s.name for s in seats), specs, replicas
