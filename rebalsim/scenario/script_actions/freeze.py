"""A long GC pause, or a suspended machine."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Freeze
from rebalsim.scenario.action_words import for_, who_does
from rebalsim.scenario.kinds import Section, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import FOR, IN_GROUP, PROCESS, WHO

SECTION = Section(
    "freeze",
    (WHO, PROCESS, IN_GROUP, FOR),
    "A long GC pause or a suspended machine: nothing of the process runs.",
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.seats_of(written, together=True)
    return Freeze(names_of(found), written.get("for")) if found else None


def say(deed: Freeze) -> str:
    return who_does(deed.consumers, "freezes", "freeze") + for_(deed.for_)


ACTION = ScriptAction("freeze", SECTION, read, {Freeze: say}, is_of_streams=True)
