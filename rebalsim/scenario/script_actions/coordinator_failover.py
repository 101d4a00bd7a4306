"""The group's coordinator moves to another broker."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Failover
from rebalsim.scenario.action_words import for_
from rebalsim.scenario.common_language import word_of
from rebalsim.scenario.kinds import Section, Written, build
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import IN_GROUP, LOAD

SECTION = Section(
    "coordinator_failover",
    (IN_GROUP, LOAD),
    "The group's coordinator moves to another broker.",
    allows_nothing=True,
    shorthand=word_of("load"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    roster = script.group_of(written)
    return build(Failover, written, group=roster.group) if roster is not None else None


def say(deed: Failover) -> str:
    loads = f" and loads{for_(deed.load)}" if not deed.load.is_zero else ""
    return f"the coordinator of {deed.group} moves{loads}"


ACTION = ScriptAction("coordinator_failover", SECTION, read, {Failover: say}, is_of_streams=True)
