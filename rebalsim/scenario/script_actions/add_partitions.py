"""Partitions are added to a topic."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import AddPartitions
from rebalsim.scenario.common_language import MAX_PARTITIONS, TOPIC, word_of
from rebalsim.scenario.kinds import Field, Section, Whole, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast

SECTION = Section(
    "add_partitions",
    (
        Field("topic", TOPIC, "Which topic; may be left out where there is one."),
        Field(
            "to", Whole(1, MAX_PARTITIONS), "How many it has then.", target="to", is_required=True
        ),
    ),
    "Partitions are added to a topic.",
    shorthand=word_of("to"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    topic = script.topic_of(written)
    if topic is None:
        return None
    to, has = written.get("to"), script.partitions[topic]
    if to <= has:
        script.out.add(
            written.at["to"],
            f"{topic} has {has} partitions already, and partitions are never taken away — "
            f"write more than {has}",
        )
        return None
    script.partitions[topic] = to
    if sum(script.partitions.values()) > MAX_PARTITIONS:
        script.out.add(
            written.at["to"],
            f"With this the topics have more than {MAX_PARTITIONS:,} partitions — write fewer",
        )
    return AddPartitions(topic, to)


def say(deed: AddPartitions) -> str:
    return f"{deed.topic} grows to {deed.to} partitions"


ACTION = ScriptAction("add_partitions", SECTION, read, {AddPartitions: say}, is_of_streams=True)
