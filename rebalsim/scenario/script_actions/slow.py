"""A handler gets slower."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Slow
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.kinds import Field, Number, Section, Written, build
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import FOR_A_WHILE, IN_GROUP, PROCESS, WHO

SECTION = Section(
    "slow",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        Field(
            "factor",
            Number(0.001, 1e6, "a factor such as 3 or 3x", suffix="x×"),
            "The handler takes so many times as long.",
            target="factor",
            is_required=True,
            example="factor: 3x",
        ),
        FOR_A_WHILE,
    ),
    "The handler gets slower for a while.",
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.only_consumers(
        script.seats_of(written, default_all=True), written, "no handler to slow down"
    )
    return build(Slow, written, consumers=names_of(found)) if found else None


def say(deed: Slow) -> str:
    return (
        f"the handler of {say_names(deed.consumers)} takes {deed.factor:g} × as long for "
        f"{say_us(deed.for_us)}"
    )


ACTION = ScriptAction("slow", SECTION, read, {Slow: say})
