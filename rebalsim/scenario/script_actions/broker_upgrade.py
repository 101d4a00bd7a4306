"""All brokers come back with another Kafka version."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.draws import NOTHING
from rebalsim.domain.script import BrokerUpgrade
from rebalsim.scenario.action_words import for_
from rebalsim.scenario.common_language import ANY_TEXT, DRAW, DURATION_KIND, word_of
from rebalsim.scenario.kinds import Field, Section, Written, build
from rebalsim.scenario.profiles import broker_profile
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import LOAD

SECTION = Section(
    "broker_upgrade",
    (
        Field(
            "to",
            ANY_TEXT,
            "The Kafka version they come back with.",
            is_required=True,
            example='to: "4.3"',
        ),
        Field(
            "down",
            DRAW,
            "How long each is away.",
            target="down",
            is_required=True,
            example="down: 20s",
        ),
        Field(
            "settle",
            DURATION_KIND,
            "The wait before the next one.",
            target="settle_us",
            default="0s",
        ),
        LOAD,
    ),
    "All brokers restart one after another and come back with another Kafka version.",
    shorthand=word_of("to"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = broker_profile(written.get("to"))
    if isinstance(found, str):
        script.out.add(written.at["to"], found)
        return None
    was = script.resolver.brokers_now
    if found.is_older_than(was):
        script.out.add(
            written.at["to"],
            f"Kafka {found.version} is older than the {was.version} that the brokers have by then — "
            "write a later version",
        )
    script.resolver.brokers_now = found
    return build(
        BrokerUpgrade,
        None,
        kafka=found.version,
        down=written.get("down"),
        settle_us=written.get("settle", 0),
        load=written.get("load", NOTHING),
        habits=found.habits,
    )


def say(deed: BrokerUpgrade) -> str:
    return f"brokers upgraded to Kafka {deed.kafka} one by one, each away{for_(deed.down)}"


ACTION = ScriptAction("broker_upgrade", SECTION, read, {BrokerUpgrade: say}, is_of_streams=True)
