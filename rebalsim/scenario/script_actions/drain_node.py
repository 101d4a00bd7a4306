"""A node is drained."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.kubernetes import DrainNode
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.kubernetes import read_drain, targeted
from rebalsim.scenario.pods_moved import moved
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import WHO

SECTION = targeted(WHO)["drain_node"]


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = moved(script, written, line)
    if found is None:
        return None
    roster, names, stand_ins, replicas = found
    return read_drain(written, roster.group, names, stand_ins, replicas)


def say(deed: DrainNode) -> str:
    return f"the node of {say_names(deed.consumers)} is drained, {deed.keep} stay available"


ACTION = ScriptAction("drain_node", SECTION, read, {DrainNode: say})
