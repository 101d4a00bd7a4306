"""What a client knows of topics: refreshed every metadata.max.age.ms from the last answer on, and
at once for a topic it never asked about.

Only the leader and pattern subscribers act on it. Refreshes that bring nothing new are no events:
when the brokers' metadata change, each client's next refresh is worked out.

Kafka's own client asks the broker that is least at work for it, on the connection that its
Fetches use. There the request waits behind the Fetch that is parked (a broker answers one
request of a connection after the other), and is answered with the next record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.simulation.engine import APP, NEVER

TRACED = 200  # so many refreshes back it is minded how long each answer took

if TYPE_CHECKING:
    from rebalsim.simulation.ports import Client


class Metadata:
    """One client's view: topic → partitions."""

    __slots__ = ("consumer", "engine", "racks", "refreshed_us", "view", "watched")

    def __init__(self, consumer: Client) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self.refreshed_us = 0
        self.watched: dict[str, None] = {}
        self.view: dict[str, int] = {}
        self.racks: dict[
            str, tuple[frozenset[str], ...]
        ] = {}  # of each partition's replicas; for clients with a rack alone

    def watch(self, topics: tuple[str, ...]) -> None:
        """These topics matter; what was never asked for is fetched now (Kafka blocks for it; its
        round trip is not told).
        """
        if any(topic not in self.watched for topic in topics):
            for topic in topics:
                self.watched[topic] = None
            self.refresh()

    def refresh(self) -> None:
        """An answer of the brokers, now."""
        now = self.engine.now
        self.refreshed_us = now
        partitions = self.consumer.world.partitions
        self.view = {topic: partitions.get(topic, 0) for topic in self.watched}
        if self.consumer.config.client_rack:
            self.racks = self.consumer.world.brokers.racks_seen(self.view)

    def of(self, topics: tuple[str, ...]) -> dict[str, int]:
        """The partition counts of these topics as this client sees them; a topic that is not
        there has none.
        """
        view = self.view
        return {topic: view.get(topic, 0) for topic in topics}

    def snapshot(self, topics: tuple[str, ...]) -> dict[str, Any]:
        """What the leader compares with what it assigned by (MetadataSnapshot): the partitions,
        and of a client with a rack their replicas' racks.
        """
        counts = self.of(topics)
        return (
            {topic: (count, self.racks.get(topic)) for topic, count in counts.items()}
            if self.racks
            else counts
        )

    def look_again(self) -> None:
        """The brokers are asked before the time: one of them hung up, or no longer leads what is
        read from it.
        """
        self.consumer.touch()
        self.refresh()
        self.consumer.metadata_came()

    def changed(self, shrunk: str = "") -> None:
        """The brokers' metadata changed: this client sees it at its next refresh.

        That is soon where it reads from a topic of which partitions are gone (`shrunk`), since
        its Fetch is refused, and where a topic that it asks for by name is not there, since such
        an answer makes it ask again (Metadata.handleMetadataResponse). Other libraries than
        Kafka's own keep to their period here: what they do is not known.
        """
        consumer, now = self.consumer, self.engine.now
        if consumer.spec.habits.runs_itself:
            refreshes = self._periodic(now)
        elif (
            shrunk
            and (lost := next((p for p in consumer.feed.shares if p.topic == shrunk), None))
            is not None
        ):
            refreshes = now + 3 * consumer.link(
                max(0, consumer.world.brokers.leaders[lost])
            ).latency_us(now)
        elif consumer.pattern is None and not all(self.view.values()):
            refreshes = self._attempt(now)
        else:
            refreshes = self._periodic(now)
        self.engine.at(refreshes, consumer.rank + APP, self._refreshed, consumer.life)

    def _periodic(self, now: int) -> int:
        """The next of the refreshes that are made anyway."""
        period: int = max(
            1, self.consumer.config.metadata_max_age_us + self.consumer.heartbeat.late_us
        )
        refreshes = (
            self.refreshed_us + max(0, (now - self.refreshed_us) // period - TRACED) * period
        )
        while refreshes <= now:
            refreshes = self._answered(refreshes + period)
        return refreshes

    def _attempt(self, now: int) -> int:
        """The next of those that retry.backoff.ms spaces, twice as long each time up to its
        maximum, since the last answer without the topic.
        """
        config = self.consumer.config
        at, step, longest = (
            self.refreshed_us,
            max(1, int(config.retry_backoff_us)),
            max(1, int(config.retry_backoff_max_us)),
        )
        while at <= now and step < longest:
            at, step = at + step, 2 * step
        return at if at > now else at + ((now - at) // longest + 1) * longest

    def _answered(self, asked_us: int) -> int:
        """When the answer comes to a client that asks now: at once, or behind the Fetch that is
        parked.
        """
        consumer = self.consumer
        feed = consumer.feed
        shares = list(feed.shares.values())
        if (
            not shares
            or asked_us < feed.began_us
            or shares[0].broker < 0
            or consumer.spec.habits.runs_itself
        ):
            return asked_us
        link = consumer.link(shares[0].broker)
        latency: int = link.latency_us(asked_us)
        parked: int = feed.began_us
        nearest = NEVER
        for flow in {
            id(share.flow): share.flow for share in shares if share.broker == shares[0].broker
        }.values():
            count = flow.count(asked_us)
            nearest = min(nearest, flow.when(count))
            if count:
                parked = max(
                    parked, flow.when(count - 1) + 2 * latency
                )  # with the last record: sent again once that has come
        wait: int = consumer.config.fetch_max_wait_us
        if asked_us < parked:
            return asked_us
        answered = parked + wait
        if answered <= asked_us:  # came back empty, perhaps many times
            again = max(1, wait + 2 * latency)
            answered += ((asked_us - answered) // again + 1) * again
        service: int = consumer.world.machine.service_us
        return min(nearest, answered) + service + latency

    def _refreshed(self, life: int) -> None:
        consumer = self.consumer
        if life != consumer.life or not consumer.is_alive:
            return
        consumer.touch()  # what it did before, it did without knowing
        self.refresh()
        consumer.metadata_came()
