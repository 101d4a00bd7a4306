"""Topics that grow, come, go and change their rate while an application runs: what is produced into
each partition, which tasks that makes, and what Kafka Streams refuses to go on with.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rebalsim.assignors.streams.tasks import Topology, topology_of
from rebalsim.simulation.streams.application import Application


class Seen(NamedTuple):
    """The application's tasks as whoever refreshed its metadata then sees them; or why it ends."""

    at_us: int
    topology: Topology
    why: str = ""
    error: str = ""  # the exception's name


class Topics:
    """All topics of one application over time."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._internal = application.internal_topics()
        self._repartition = application.repartition_counts()
        self.first = dict(application.topics)  # as many partitions as each begins with
        self.growth: dict[str, list[tuple[int, int]]] = {}
        self._seen = [self._look(0)]

    @property
    def topology(self) -> Topology:
        """The tasks that there are now, or were before a topic went."""
        return self._seen[-1].topology

    def seen(self, at_us: int) -> Seen:
        """By a client whose metadata are of that moment."""
        return self._seen[max(0, bisect_right(self._seen, at_us, key=lambda s: s.at_us) - 1)]

    def set_rate(self, topic: str, per_second: float, now_us: int) -> None:
        """So many records a second from now on, over all its partitions."""
        count = self._application.topics.get(topic, 0)
        self._flow(topic, now_us, per_second / count if count else 0.0)

    def set_partitions(self, topic: str, count: int, per_second: float, now_us: int) -> None:
        """So many partitions from now on (0: it is gone), and its records spread over them."""
        before = self._application.topics.get(topic, 0)
        self._application.topics[topic] = count
        for number in range(before, count):
            self._application.born[topic, number] = now_us
        self.growth.setdefault(topic, []).append((now_us, count))
        self._flow(topic, now_us, per_second / count if count else 0.0)
        self._seen.append(self._look(now_us))

    def whole(self, topic: str) -> list[tuple[int, float]]:
        """Records a second into all its partitions together, step by step."""
        growth = self.growth.get(topic, [])
        found = []
        for at_us, rate in self._application.flow_of(topic):
            count = next((n for from_us, n in reversed(growth) if from_us <= at_us), None)
            found.append((at_us, rate * (self.first[topic] if count is None else count)))
        return found

    def _flow(self, topic: str, now_us: int, rate: float) -> None:
        steps = [step for step in self._application.flow_of(topic) if step[0] < now_us]
        self._application.flows[topic] = (*steps, (now_us, rate))

    def _look(self, now_us: int) -> Seen:
        application, topics = self._application, self._application.topics
        missing = [s for part in application.parts for s in part.sources if not topics.get(s)]
        if missing:
            before = self._seen[-1].topology if now_us else _tasks(application)
            why = f"source topic {missing[0]} is missing"
            return Seen(now_us, before, why, "MissingSourceTopicException")
        wrong = _wrong(self._internal, application.internal_topics()) or _wrong(
            self._repartition, application.repartition_counts()
        )
        return Seen(now_us, _tasks(application), wrong, "StreamsException" if wrong else "")


def _tasks(application: Application) -> Topology:
    return topology_of(application.subtopologies(), application.topics)


def _wrong(there: Mapping[str, int], wanted: Mapping[str, int]) -> str:
    """An internal topic that there is keeps its partitions."""
    found: Sequence[str] = [name for name in sorted(there) if there[name] != wanted[name]]
    if not found:
        return ""
    name = found[0]
    return f"internal topic {name} has {there[name]} partitions, and would need {wanted[name]}"
