"""A machine is taken away."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.kubernetes import Evict
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.kubernetes import read_evict, targeted
from rebalsim.scenario.pods_moved import moved
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import WHO

SECTION = targeted(WHO)["evict"]


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = moved(script, written, line)
    return read_evict(written, found[1], found[2]) if found is not None else None


def say(deed: Evict) -> str:
    return f"the machine of {say_names(deed.consumers)} is gone in {say_us(deed.notice_us)}"


ACTION = ScriptAction("evict", SECTION, read, {Evict: say})
