"""The network between members and brokers is cut."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Cut
from rebalsim.scenario.action_words import for_, say_names
from rebalsim.scenario.kinds import Choice, Field, Section, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import FOR, IN_GROUP, PROCESS, WHO

SECTION = Section(
    "cut",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        FOR,
        Field(
            "from",
            Choice("coordinator", "brokers"),
            "The group's coordinator alone, or all brokers.",
            default="coordinator",
        ),
    ),
    "The network between members and brokers is cut, and heals.",
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.seats_of(written, together=True)
    return (
        Cut(names_of(found), written.get("from") == "brokers", written.get("for"))
        if found
        else None
    )


def say(deed: Cut) -> str:
    whom = "all brokers" if deed.from_all_brokers else "the coordinator"
    return f"{say_names(deed.consumers)} cut off from {whom}{for_(deed.for_)}"


ACTION = ScriptAction("cut", SECTION, read, {Cut: say}, is_of_streams=True)
