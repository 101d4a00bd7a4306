"""A member's heartbeat comes due: the moment between two beats at which things befall a group."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Heartbeat
from rebalsim.scenario.action_words import who_does
from rebalsim.scenario.common_language import DURATION_KIND, word_of
from rebalsim.scenario.kinds import Field, Section, Written
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import IN_GROUP, PROCESS, WHO

SECTION = Section(
    "heartbeat",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        Field("in", DURATION_KIND, "How long after this moment it is due.", default="0s: now"),
        Field("late", DURATION_KIND, "By how much it leaves later than it is due.", default="0s"),
    ),
    "When the next heartbeat of members is due; others are whole intervals apart from it, before it, "
    "too, if there is time. As logs or a recording show it.",
    shorthand=word_of("members"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.only_consumers(
        script.seats_of(written), written, "no heartbeat of a consumer's to set"
    )
    if not found:
        return None
    return Heartbeat(names_of(found), int(written.get("in") or 0), int(written.get("late") or 0))


def say(deed: Heartbeat) -> str:
    us = deed.in_us + deed.late_us
    when = f" in {say_us(us)}" if us else ""
    return who_does(deed.consumers, "sends a heartbeat", "send a heartbeat") + when


ACTION = ScriptAction("heartbeat", SECTION, read, {Heartbeat: say})
