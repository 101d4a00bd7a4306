"""What a client knows of topics: refreshed every metadata.max.age.ms from the last answer on, and at once for a topic it never asked about.

Only the leader and pattern subscribers act on it. Refreshes that bring nothing new are no events: when the brokers' metadata change,
each client's next refresh is worked out.
"""

from __future__ import annotations

from typing import Any

from rebalsim.simulation.engine import APP


class Metadata:
    """One client's view: topic → partitions."""

    __slots__ = ("consumer", "engine", "racks", "refreshed_us", "view", "watched")

    def __init__(self, consumer: Any) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self.refreshed_us = 0
        self.watched: dict[str, None] = {}
        self.view: dict[str, int] = {}
        self.racks: dict[str, tuple[frozenset[str], ...]] = {}       # of each partition's replicas; for clients with a rack alone

    def watch(self, topics: tuple[str, ...]) -> None:
        """These topics matter; what was never asked for is fetched now (Kafka blocks for it; its round trip is not told)."""
        if any(topic not in self.watched for topic in topics):
            for topic in topics:
                self.watched[topic] = None
            self.refresh()

    def refresh(self) -> None:
        """An answer of the brokers, now."""
        now = self.engine.env._now
        self.refreshed_us = now
        partitions = self.consumer.world.partitions
        self.view = {topic: partitions.get(topic, 0) for topic in self.watched}
        if self.consumer.config.client_rack:
            self.racks = self.consumer.world.brokers.racks_seen(self.view)

    def of(self, topics: tuple[str, ...]) -> dict[str, int]:
        """The partition counts of these topics as this client sees them; a topic that is not there has none."""
        view = self.view
        return {topic: view.get(topic, 0) for topic in topics}

    def snapshot(self, topics: tuple[str, ...]) -> dict[str, Any]:
        """What the leader compares with what it assigned by (MetadataSnapshot): the partitions, and of a client with a rack their replicas' racks."""
        counts = self.of(topics)
        return {topic: (count, self.racks.get(topic)) for topic, count in counts.items()} if self.racks else counts

    def look_again(self) -> None:
        """The brokers are asked before the time: one of them hung up, or no longer leads what is read from it."""
        self.refresh()
        self.consumer.metadata_came()

    def changed(self) -> None:
        """The brokers' metadata changed: this client sees it at its next refresh."""
        now = self.engine.env._now
        late = self.consumer.heartbeat.late_us
        period = self.consumer.config.metadata_max_age_us + late
        refreshes = self.refreshed_us + max(0, (now - self.refreshed_us) // period + 1) * period
        self.engine.at(refreshes, self.consumer.rank + APP, self._refreshed, self.consumer.life)

    def _refreshed(self, event: Any) -> None:
        consumer = self.consumer
        if event.value != consumer.life or not consumer.is_alive:
            return
        self.refresh()
        consumer.metadata_came()
