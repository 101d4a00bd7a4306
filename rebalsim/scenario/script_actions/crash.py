"""Processes die at once."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Crash
from rebalsim.scenario.action_words import who_does
from rebalsim.scenario.common_language import DRAW, word_of
from rebalsim.scenario.kinds import Field, Flag, Section, Written, build, say_draw
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import IN_GROUP, PROCESS, WHO

SECTION = Section(
    "crash",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        Field(
            "restart_after",
            DRAW,
            "Started again so much later.",
            target="restart_after",
            default="not at all",
        ),
        Field(
            "loses_volume",
            Flag(),
            "Kafka Streams: its state directory is gone, too.",
            target="loses_volume",
        ),
    ),
    "Processes die at once (SIGKILL).",
    shorthand=word_of("members"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.seats_of(written, together=True)
    if "restart_after" not in written.at:
        for roster, seat in found:
            if script.started(roster, seat).life.restart_policy != "Always":
                seat.is_running, seat.gone_line, seat.gone_how = False, line, "it crashes"
    return build(Crash, written, consumers=names_of(found)) if found else None


def say(deed: Crash) -> str:
    back = deed.restart_after
    return who_does(deed.consumers, "crashes", "crash") + (
        f", started again after {say_draw(back)}" if back is not None else ""
    )


ACTION = ScriptAction("crash", SECTION, read, {Crash: say}, is_of_streams=True)
