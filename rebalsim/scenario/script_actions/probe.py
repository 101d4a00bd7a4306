"""From now on a liveness probe kills a pod that fails."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.kubernetes import Probe
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.kubernetes import read_probe, targeted
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import WHO

SECTION = targeted(WHO)["probe"]


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.seats_of(written, default_all=True)
    return read_probe(written, tuple(s.name for _, s in found)) if found else None


def say(deed: Probe) -> str:
    what = deed.looks_at.replace("_", " ")
    return f"a probe looks at the {what} of {say_names(deed.consumers)}"


ACTION = ScriptAction("probe", SECTION, read, {Probe: say})
