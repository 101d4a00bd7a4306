"""The network gets slower."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Delay
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.common_language import DRAW
from rebalsim.scenario.kinds import Field, Section, Written, build, say_draw
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import FOR_A_WHILE, IN_GROUP, PROCESS, WHO

SECTION = Section(
    "add_latency",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        Field(
            "extra",
            DRAW,
            "So much more, one way.",
            target="extra",
            is_required=True,
            example="extra: 50ms",
        ),
        FOR_A_WHILE,
    ),
    "The network gets slower for a while.",
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.seats_of(written, default_all=True)
    return build(Delay, written, consumers=names_of(found)) if found else None


def say(deed: Delay) -> str:
    return (
        f"network of {say_names(deed.consumers)} slower by {say_draw(deed.extra)} for "
        f"{say_us(deed.for_us)}"
    )


ACTION = ScriptAction("add_latency", SECTION, read, {Delay: say}, is_of_streams=True)
