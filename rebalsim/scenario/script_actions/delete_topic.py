"""A topic is deleted."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import DeleteTopic
from rebalsim.scenario.common_language import TOPIC, word_of
from rebalsim.scenario.kinds import Field, Section, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast

SECTION = Section(
    "delete_topic",
    (Field("topic", TOPIC, "Which topic.", target="topic", is_required=True),),
    "A topic is deleted.",
    shorthand=word_of("topic"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    topic = script.topic_of(written)
    if topic is None:
        return None
    if not script.exists[topic]:
        script.out.add(
            written.at["topic"], f"{topic} does not exist at this point — create it before"
        )
        return None
    script.exists[topic] = False
    return DeleteTopic(topic)


def say(deed: DeleteTopic) -> str:
    return f"{deed.topic} is deleted"


ACTION = ScriptAction("delete_topic", SECTION, read, {DeleteTopic: say}, is_of_streams=True)
