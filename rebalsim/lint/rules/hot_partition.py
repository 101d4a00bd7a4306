"""One partition gets more than one member can handle: no number of members helps it."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import at_start, average_rate, service_us
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="hot-partition",
    heading="Handlers and commits",
    title="One partition gets more than one member can handle",
    what="A partition's share of the topic's average rate is above what a member handles when it "
    "does nothing else.",
    why="A partition belongs to one member at a time, so scaling out cannot help it; Kafka's "
    "assignors count partitions, not records, and "
    "give its owner other partitions besides. Its lag grows for ever and every autoscaler that "
    "looks at lag scales for nothing.",
    fix="Spread the keys (more partitions, a better key), or make the handler quicker.",
    example=("skew: [8, 1, 1, 1]\n# partition 0: 73 % of 1000/s; a 2 ms handler manages 500/s"),
    source="AbstractPartitionAssignor and its children balance by number of partitions only.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        members = at_start(group)
        for topic in scenario.topics:
            if not topic.weights:
                continue
            readers = [c for c in members if c.subscribes_to(topic.name)]
            costs = [cost for cost in (service_us(scenario, c) for c in readers) if cost > 0]
            total = sum(topic.weights)
            if not costs or len(costs) < len(readers) or total <= 0:
                continue
            most = 1e6 / min(costs)
            each = average_rate(scenario, topic) / total
            hot = sum(each * weight > most for weight in topic.weights)
            if hot:
                number = topic.weights.index(max(topic.weights))
                arriving = each * topic.weights[number]
                more = f" (and {hot - 1} more)" if hot > 1 else ""
                yield Finding(
                    f"{topic.name}-{number} gets {arriving:,.0f} records/s{more}, more than the "
                    f"{most:,.0f}/s that one member of {group.name} "
                    "handles: more members do not help it — spread the keys, or make the handler "
                    "quicker",
                    Place("topic", topic.name, "skew"),
                )
