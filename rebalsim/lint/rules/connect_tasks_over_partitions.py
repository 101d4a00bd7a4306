"""A sink connector has more tasks than there are partitions to read."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.connect import SINK
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.connect_facts import connectors_of
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="connect-tasks-over-partitions",
    heading="Kafka Connect",
    title="A sink has more tasks than its topics have partitions",
    what="tasks.max of a sink is higher than the number of partitions of its topics together.",
    why="A sink makes tasks.max tasks whatever there is to read, and each is a consumer of "
    "connect-NAME. Those without a partition do nothing, but count when load is evened out, "
    "move, and rebalance the group as they come and go.",
    fix="Write tasks.max of at most the number of partitions.",
    example="lake: {topics: [orders], tasks.max: 12}    # and orders has 6 partitions",
    source="SinkConnector.taskConfigs; WorkerSinkTask.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    partitions = {topic.name: topic.partitions for topic in scenario.topics}
    seen: set[tuple[str, int]] = set()
    for connector in connectors_of(scenario):
        if connector.kind != SINK or (connector.name, connector.tasks_max) in seen:
            continue
        seen.add((connector.name, connector.tasks_max))
        there = sum(partitions.get(topic, 0) for topic in connector.topics)
        if connector.tasks_max > there:
            yield Finding(
                f"{connector.name} has {connector.tasks_max} tasks for {there} partitions: "
                f"{connector.tasks_max - there} of them have nothing to read — write tasks.max: "
                f"{max(1, there)}",
                Place("connect", connector.name, "tasks.max"),
                fix=((f"connectors.{connector.name}.tasks.max", str(max(1, there))),),
            )
