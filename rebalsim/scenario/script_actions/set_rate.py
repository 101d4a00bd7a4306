"""Records arrive at another rate."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import SetRate
from rebalsim.scenario.common_language import TOPIC, word_of
from rebalsim.scenario.kinds import Field, Section, Written
from rebalsim.scenario.quantities import say_rate
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.topic_language import RATE_KIND

SECTION = Section(
    "set_rate",
    (
        Field("topic", TOPIC, "Which topic; may be left out where there is one."),
        Field("rate", RATE_KIND, "Records that arrive from now on.", is_required=True),
    ),
    "From now on records arrive at another rate.",
    shorthand=word_of("rate"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    topic = script.topic_of(written)
    if topic is None:
        return None
    value, is_each = written.get("rate")
    return SetRate(topic, value * script.partitions[topic] if is_each else value)


def say(deed: SetRate) -> str:
    return f"records arrive at {deed.topic} at {say_rate(deed.per_second)}"


ACTION = ScriptAction("set_rate", SECTION, read, {SetRate: say}, is_of_streams=True)
