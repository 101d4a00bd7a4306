"""auto.offset.reset=latest on a topic that grows: what arrives before the new partitions are
noticed is never read.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import average_rate, everyone, heartbeat_us, is_classic, say, say_names
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import grown_topics, place_of

RULE = Rule(
    id="latest-on-growing-topic",
    heading="Topics that grow",
    title="Records of new partitions are skipped",
    what="The script adds partitions to a topic that receives records, or creates one, and "
    "consumers read it with auto.offset.reset: latest.",
    why="Producers write to new partitions as soon as they see them. The group sees them later: "
    "in a classic group when the leader's "
    "metadata is refreshed (up to metadata.max.age.ms), and so does everybody a topic that a "
    "pattern matches. The partition then has no "
    "committed offset, latest means its end at that moment, and all that arrived before is "
    "skipped without an error.",
    fix="Write auto.offset.reset: earliest: it bears only on partitions without a committed "
    "offset. Shorten metadata.max.age.ms besides.",
    example=(
        "auto.offset.reset: latest\n"
        "# 8 new partitions, 50/s each, noticed after 5 m: 120,000 records"
    ),
    source="KAFKA-12478; SubscriptionState.resetInitializingPositions; KIP-842 and KIP-1106 "
    "discuss "
    "remedies.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, topic, before, to in grown_topics(scenario):
        readers = [
            c
            for c in everyone(scenario)
            if c.subscribes_to(topic.name) and c.config.auto_offset_reset == "latest"
        ]
        rate = average_rate(scenario, topic)
        if not readers or rate <= 0:
            continue
        delay = max(_noticed_after(scenario, c, not before) for c in readers)
        new = to - before
        skipped = rate * new / to * delay / 1e6
        yield Finding(
            f"{topic.name} {'grows by' if before else 'is created with'} {new} "
            f"partition{'s' if new > 1 else ''}, {say_names(readers)} may notice "
            f"up to {say(delay)} later, and with auto.offset.reset latest what arrives before is "
            f"skipped: up to about {skipped:,.0f} records — "
            "write auto.offset.reset: earliest",
            place_of(action),
            fix=(("auto.offset.reset", "earliest"),),
        )


def _noticed_after(scenario: Scenario, consumer: Consumer, is_created: bool) -> int:
    """Who asks for a topic by name asks again until it is there; a pattern is matched when
    metadata are refreshed.
    """
    config = consumer.config
    if is_created and consumer.pattern is not None:
        return config.metadata_max_age_us
    if is_classic(consumer):
        return (
            config.retry_backoff_max_us + config.heartbeat_interval_us
            if is_created
            else config.metadata_max_age_us
        )
    return heartbeat_us(scenario, consumer)
