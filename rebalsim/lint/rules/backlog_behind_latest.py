"""A backlog that nobody reads: the group has committed nothing yet, and auto.offset.reset:
latest begins behind it.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import at_start, say_names
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="backlog-behind-latest",
    heading="The story itself",
    title="A backlog is never read",
    what="A topic has a backlog, and a group that begins with the story reads it with "
    "auto.offset.reset: latest.",
    why="The group of a story has committed no offsets before it starts. Without one, latest "
    "begins at the end of each partition as it is at "
    "that moment: what waits there is skipped without an error, and the story plays without the "
    "lag that it is about.",
    fix="Write auto.offset.reset: earliest, or leave the backlog out.",
    example="topics: {orders: {partitions: 12, backlog: 50000}}\nauto.offset.reset: latest      # "
    "→ "
    "earliest",
    source="SubscriptionState.resetInitializingPositions; Kafka's default of auto.offset.reset is "
    "latest.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        for topic in scenario.topics:
            readers = [c for c in at_start(group) if c.subscribes_to(topic.name)]
            late = [c for c in readers if c.config.auto_offset_reset == "latest"]
            if late and topic.backlog and topic.exists_from_start:
                yield Finding(
                    f"{topic.backlog * topic.partitions:,} records wait in {topic.name} "
                    f"(backlog: {topic.backlog} in each partition), but "
                    f"{say_names(late)} begin{'s' if len(late) == 1 else ''} behind them: "
                    "nothing is committed yet, and auto.offset.reset is "
                    "latest — write auto.offset.reset: earliest",
                    Place("topic", topic.name, "backlog"),
                    fix=(("auto.offset.reset", "earliest"),),
                )
