"""What a scaler tells of the workload that it scales: that it consumes, which group and which topics
it scales by, and who owns the number of pods.
"""

from __future__ import annotations

from rebalsim.worlds.kubernetes.autoscalers import Scaling
from rebalsim.worlds.understood import Consumer, Understood
from rebalsim.worlds.values import default, inferred


def scaled_by_lag(made: Understood) -> set[str]:
    """The workloads that a group's lag scales: nobody scales by a lag that others work off."""
    return {s.target for s in made.scalings if s.target and s.triggers}


def join(made: Understood) -> None:
    for scaling in made.scalings:
        mine = [c for c in made.consumers if _scales(scaling, c)]
        for consumer in mine:
            _number(scaling, consumer)
        if len(mine) == 1 and scaling.triggers:
            _group_and_topics(scaling, mine[0])


def _scales(scaling: Scaling, consumer: Consumer) -> bool:
    return bool(scaling.target and consumer.workload and scaling.target in consumer.workload)


def _number(scaling: Scaling, consumer: Consumer) -> None:
    """A scaler that owns a workload's number: then a left-out replicas means its minimum."""
    least = scaling.min.value if scaling.min.known else 1
    if consumer.replicas_left_out:
        consumer.replicas = default(
            max(1, int(least or 1)), f"left out for {scaling.kind} {scaling.name}"
        )


def _group_and_topics(scaling: Scaling, consumer: Consumer) -> None:
    """What nothing else tells: likely the group whose lag scales it, and the topics of that lag."""
    source = f"{scaling.where}: the lag that scales it"
    groups = list(dict.fromkeys(t.group for t in scaling.triggers if t.group))
    if len(groups) == 1 and consumer.group.sure == "unknown":
        consumer.group = inferred(groups[0], source)
        consumer.reading.put("group.id", consumer.group)
    same = not consumer.group.known or groups == [consumer.group.value]
    topics = list(dict.fromkeys(t.topic for t in scaling.triggers if t.topic))
    if topics and same and consumer.topics.sure == "unknown":
        consumer.topics = inferred(topics, source)
