"""New partitions wait for the leader's metadata to be refreshed."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import MINUTE
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import average_rate, everyone, is_classic, say
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import grown_topics, place_of

LIMIT_US = 1 * MINUTE

RULE = Rule(
    id="slow-metadata-refresh",
    heading="Topics that grow",
    title="New partitions wait for a metadata refresh",
    what="The script adds partitions to a topic of a classic group, or creates one that a pattern "
    "matches, and metadata.max.age.ms is longer than a "
    "minute.",
    why="In a classic group only the group's leader compares its metadata with that of the last "
    "assignment. It refreshes it every "
    "metadata.max.age.ms (5 minutes by default); until then the new partitions have no owner and "
    "their records pile up. Under the "
    "consumer protocol the coordinator knows by itself, and members learn at their next heartbeat.",
    fix="Lower metadata.max.age.ms (30s costs a small request per client and half minute), or "
    "restart a member after adding partitions.",
    example="metadata.max.age.ms: 5m         # → 30s",
    source="ConsumerCoordinator.rejoinNeededOrPending (assignment snapshot of the leader); "
    "Metadata.timeToNextUpdate.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, topic, before, to in grown_topics(scenario):
        readers = [
            c
            for c in everyone(scenario)
            if c.subscribes_to(topic.name) and (is_classic(c) if before else c.pattern is not None)
        ]
        age = max((c.config.metadata_max_age_us for c in readers), default=0)
        if age <= LIMIT_US:
            continue
        new = to - before
        waiting = average_rate(scenario, topic) * new / to * age / 1e6
        records = f", and about {waiting:,.0f} records wait" if waiting >= 1 else ""
        late = (
            " (beyond this story's horizon)"
            if action.after is None and action.at_us + age > scenario.horizon_us
            else ""
        )
        who = (
            "only the group's leader looks"
            if before
            else "members look for topics of their pattern"
        )
        yield Finding(
            f"{new} new partition{'s' if new > 1 else ''} of {topic.name} may have no owner for "
            f"{say(age)}{late}: {who}, "
            f"every metadata.max.age.ms{records} — write metadata.max.age.ms: 30s",
            place_of(action),
            fix=(("metadata.max.age.ms", "30s"),),
        )
