"""Members ask for fresh metadata before these are too old."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import RefreshMetadata
from rebalsim.scenario.action_words import who_does
from rebalsim.scenario.common_language import word_of
from rebalsim.scenario.kinds import Section, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import IN_GROUP, PROCESS, WHO

SECTION = Section(
    "refresh_metadata",
    (WHO, PROCESS, IN_GROUP),
    "Members see their topics as they are now, whatever metadata.max.age.ms says.",
    shorthand=word_of("members"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.only_consumers(script.seats_of(written), written, "no topics to look at")
    return RefreshMetadata(names_of(found)) if found else None


def say(deed: RefreshMetadata) -> str:
    return who_does(deed.consumers, "refreshes its metadata", "refresh their metadata")


ACTION = ScriptAction("refresh_metadata", SECTION, read, {RefreshMetadata: say})
