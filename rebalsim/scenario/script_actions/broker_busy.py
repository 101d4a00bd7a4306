"""A broker is under other load."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import BrokerBusy
from rebalsim.scenario.common_language import DRAW, POSITIVE
from rebalsim.scenario.kinds import Field, Nullable, Section, Whole, Written, build, say_draw
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import IN_GROUP

SECTION = Section(
    "broker_busy",
    (
        Field(
            "broker",
            Nullable("coordinator", Whole(0, 100_000)),
            "Which one, by its id, or the one that coordinates the group.",
            target="broker",
            is_required=True,
        ),
        Field(
            "wait",
            DRAW,
            "How long each request and its answer lie in its queues, together.",
            target="wait",
            is_required=True,
            example="wait: 50ms",
        ),
        Field(
            "for", POSITIVE, "For how long.", target="for_us", is_required=True, example="for: 2m"
        ),
        IN_GROUP,
    ),
    "A broker is under other load, and whatever it is asked waits.",
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    if written.get("broker") is not None:
        return build(BrokerBusy, written) if script.has_broker(written) else None
    roster = script.group_of(written)
    return build(BrokerBusy, written, group=roster.group) if roster is not None else None


def say(deed: BrokerBusy) -> str:
    broker = f"the coordinator of {deed.group}" if deed.broker is None else f"broker {deed.broker}"
    return f"{broker} is busy: requests wait {say_draw(deed.wait)} for {say_us(deed.for_us)}"


ACTION = ScriptAction("broker_busy", SECTION, read, {BrokerBusy: say})
