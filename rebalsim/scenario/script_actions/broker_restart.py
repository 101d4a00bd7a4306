"""A broker goes down and comes back."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import BrokerRestart
from rebalsim.scenario.action_words import for_
from rebalsim.scenario.common_language import DRAW
from rebalsim.scenario.kinds import Field, Nullable, Section, Whole, Written, build
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import IN_GROUP, LOAD

SECTION = Section(
    "broker_restart",
    (
        Field(
            "broker",
            Nullable("coordinator", Whole(0, 100_000)),
            "Which one, by its id, or the one that coordinates the group.",
            target="broker",
            is_required=True,
        ),
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
    if written.get("broker") is not None:
        return build(BrokerRestart, written) if script.has_broker(written) else None
    roster = script.group_of(written)
    return build(BrokerRestart, written, group=roster.group) if roster is not None else None


def say(deed: BrokerRestart) -> str:
    broker = f"the coordinator of {deed.group}" if deed.broker is None else f"broker {deed.broker}"
    return f"{broker} restarts, away{for_(deed.down)}"


ACTION = ScriptAction("broker_restart", SECTION, read, {BrokerRestart: say})
