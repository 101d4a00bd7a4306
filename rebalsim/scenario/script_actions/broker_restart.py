"""A broker goes down and comes back."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import BrokerRestart
from rebalsim.scenario.action_words import for_, say_broker
from rebalsim.scenario.common_language import DRAW
from rebalsim.scenario.kinds import Field, Section, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import BROKER, IN_GROUP, LOAD

SECTION = Section(
    "broker_restart",
    (
        BROKER,
        Field(
            "down",
            DRAW,
            "How long it is away.",
            target="down",
            is_required=True,
            example="down: 20s",
        ),
        IN_GROUP,
        LOAD,
    ),
    "A broker goes down and comes back.",
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    return script.at_broker(BrokerRestart, written)


def say(deed: BrokerRestart) -> str:
    broker = say_broker(deed.broker, deed.group)
    return f"{broker} restarts, away{for_(deed.down)}"


ACTION = ScriptAction("broker_restart", SECTION, read, {BrokerRestart: say}, is_of_streams=True)
