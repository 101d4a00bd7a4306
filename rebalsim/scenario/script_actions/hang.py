"""A handler gets stuck."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Hang
from rebalsim.scenario.action_words import for_, say_names
from rebalsim.scenario.kinds import Section, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import FOR, IN_GROUP, PROCESS, WHO

SECTION = Section(
    "hang", (WHO, PROCESS, IN_GROUP, FOR), "The handler gets stuck; the heartbeat thread goes on."
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.only_consumers(script.seats_of(written), written, "no handler to hang")
    return Hang(names_of(found), written.get("for")) if found else None


def say(deed: Hang) -> str:
    return f"the handler of {say_names(deed.consumers)} hangs{for_(deed.for_)}"


ACTION = ScriptAction("hang", SECTION, read, {Hang: say}, is_of_streams=True)
