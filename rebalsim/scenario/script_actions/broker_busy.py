"""A broker is under other load."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import BrokerBusy
from rebalsim.scenario.action_words import say_broker
from rebalsim.scenario.common_language import DRAW
from rebalsim.scenario.kinds import Field, Section, Written, say_draw
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import BROKER, FOR_A_WHILE, IN_GROUP

SECTION = Section(
    "broker_busy",
    (
        BROKER,
        Field(
            "wait",
            DRAW,
            "How long each request and its answer lie in its queues, together.",
            target="wait",
            is_required=True,
            example="wait: 50ms",
        ),
        FOR_A_WHILE,
        IN_GROUP,
    ),
    "A broker is under other load, and whatever it is asked waits.",
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    return script.at_broker(BrokerBusy, written)


def say(deed: BrokerBusy) -> str:
    broker = say_broker(deed.broker, deed.group)
    return f"{broker} is busy: requests wait {say_draw(deed.wait)} for {say_us(deed.for_us)}"


ACTION = ScriptAction("broker_busy", SECTION, read, {BrokerBusy: say}, is_of_streams=True)
