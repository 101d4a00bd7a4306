"""Members ask for a rebalance."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import EnforceRebalance
from rebalsim.scenario.action_words import who_does
from rebalsim.scenario.common_language import word_of
from rebalsim.scenario.kinds import Section, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import IN_GROUP, PROCESS, WHO

SECTION = Section(
    "enforce_rebalance",
    (WHO, PROCESS, IN_GROUP),
    "Members call enforceRebalance().",
    shorthand=word_of("members"),
    allows_nothing=True,
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.seats_of(written, default_all=True)
    return EnforceRebalance(names_of(found)) if found else None


def say(deed: EnforceRebalance) -> str:
    return who_does(deed.consumers, "enforces a rebalance", "enforce a rebalance")


ACTION = ScriptAction(
    "enforce_rebalance",
    SECTION,
    read,
    {EnforceRebalance: say},
    not_of_streams="Nobody can ask Kafka Streams for a rebalance: it asks for one by itself — leave "
    "the action out",
)
