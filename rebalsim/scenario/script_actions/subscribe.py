"""Members change their subscription."""

from __future__ import annotations

import re

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Subscribe
from rebalsim.scenario.action_words import who_does
from rebalsim.scenario.common_language import TOPIC
from rebalsim.scenario.kinds import Field, ListOf, Section, Text, Written
from rebalsim.scenario.member_language import one_subscription
from rebalsim.scenario.patterns import bad_pattern
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import IN_GROUP, PROCESS, WHO
from rebalsim.scenario.source import shorten
from rebalsim.words.nearest import or_nearest

SECTION = Section(
    "subscribe",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        Field("topics", ListOf(TOPIC, is_lenient=True, least=1), "The topics from now on."),
        Field("pattern", Text("a regular expression", max_length=200), "Or a regular expression."),
    ),
    "Members change their subscription.",
    after=one_subscription,
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.only_consumers(
        script.seats_of(written, default_all=True), written, "no subscription"
    )
    pattern = written.get("pattern")
    if pattern is None and "topics" not in written.at:
        script.out.add(
            written.node,
            "To what they subscribe is not said — add topics: [orders], or pattern:",
        )
        return None
    if pattern is not None and (why := bad_pattern(pattern)):
        script.out.add(written.at["pattern"], why)
        return None
    if pattern is not None and not any(re.fullmatch(pattern, t) for t in script.partitions):
        script.out.add(
            written.at["pattern"],
            f"'{shorten(pattern)}' matches no topic of this story — the topics are "
            f"{', '.join(list(script.partitions)[:8])}",
        )
    for topic in written.get("topics", ()):
        if topic not in script.partitions:
            script.out.add(
                written.at["topics"],
                f"There is no topic '{shorten(topic)}' — "
                f"{or_nearest(topic, script.partitions, 'write it under topics:')}",
            )
    return Subscribe(names_of(found), tuple(written.get("topics", ())), pattern) if found else None


def say(deed: Subscribe) -> str:
    to = deed.pattern if deed.pattern is not None else ", ".join(deed.topics)
    return who_does(deed.consumers, "subscribes", "subscribe") + f" to {to}"


ACTION = ScriptAction(
    "subscribe",
    SECTION,
    read,
    {Subscribe: say},
    not_of_streams="A Streams application reads what its topology says, and subscribes to nothing "
    "else — write another topology in a variant",
)
