"""A member's heartbeat comes due: the moment between two beats at which things befall a group."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Heartbeat
from rebalsim.scenario.action_words import who_does
from rebalsim.scenario.common_language import word_of
from rebalsim.scenario.kinds import Section, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import IN_GROUP, PROCESS, WHO

SECTION = Section(
    "heartbeat",
    (WHO, PROCESS, IN_GROUP),
    "The next heartbeat of members is due now, and further ones an interval apart from it: as logs "
    "or a recording show it.",
    shorthand=word_of("members"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.only_consumers(
        script.seats_of(written), written, "no heartbeat of a consumer's to set"
    )
    return Heartbeat(names_of(found)) if found else None


def say(deed: Heartbeat) -> str:
    return who_does(deed.consumers, "sends a heartbeat", "send a heartbeat")


ACTION = ScriptAction("heartbeat", SECTION, read, {Heartbeat: say})
