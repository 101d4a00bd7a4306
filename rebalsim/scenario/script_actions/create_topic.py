"""A topic is created."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import CreateTopic
from rebalsim.scenario.common_language import TOPIC, word_of
from rebalsim.scenario.kinds import Field, Section, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.topic_language import TOPIC_BLOCK

_OF_TOPICS = ("name", *TOPIC_BLOCK.by_key)
SECTION = Section(
    "create_topic",
    (
        Field(
            "topic",
            TOPIC,
            "A topic under topics: with exists: false.",
            target="topic",
            is_required=True,
        ),
    ),
    "A topic that did not exist from the start is created.",
    shorthand=word_of("topic"),
    elsewhere=lambda key: (
        "write topic: orders, and what it is like under topics:, with exists: false"
        if key in _OF_TOPICS
        else ""
    ),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    topic = script.topic_of(written, is_new=True)
    if topic is None:
        return None
    if script.exists[topic]:
        script.out.add(
            written.at["topic"],
            f"{topic} exists at this point — add exists: false to it under topics:",
        )
        return None
    script.exists[topic] = True
    return CreateTopic(topic)


def say(deed: CreateTopic) -> str:
    return f"{deed.topic} is created"


ACTION = ScriptAction("create_topic", SECTION, read, {CreateTopic: say}, is_of_streams=True)
