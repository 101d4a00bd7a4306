"""What a client knows of topics: asked for every metadata.max.age.ms, from the last answer on, at
once for a topic it never asked about, and again and again while a topic is not there.

Only the leader and pattern subscribers act on what is new.

Kafka's own client asks the broker that is least at work for it, on the connection that its
Fetches use. There the request waits behind the Fetch that is parked (a broker answers one
request of a connection after the other), and is answered with the next record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.simulation.engine import NEWS

LEAST_US = 1_000  # the network thread does not ask more often

if TYPE_CHECKING:
    from rebalsim.simulation.ports import Client


class Metadata:
    """One client's view: topic → partitions."""

    __slots__ = (
        "attempts",
        "consumer",
        "engine",
        "is_asked_for",
        "is_behind",
        "racks",
        "refreshed_us",
        "view",
        "watched",
    )

    def __init__(self, consumer: Client) -> None:
        self.consumer = consumer
        self.engine = consumer.engine
        self.refreshed_us = 0
        self.attempts = 0  # answers in a row without one of the topics
        self.is_asked_for = False  # the answer is under way
        self.is_behind = False  # the brokers know something else by now
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
        partitions = self.consumer.world.partitions
        self.view = {topic: partitions.get(topic, 0) for topic in self.watched}
        if self.consumer.config.client_rack:
            self.racks = self.consumer.world.brokers.racks_seen(self.view)
        self.is_behind = False
        self.stands_as_of(self.engine.now)
        self.plan()

    def stands_as_of(self, us: int) -> None:
        """An answer came at this instant, and told what this one told, or tells it now."""
        self.refreshed_us, self.is_asked_for = us, False
        self.attempts = self.attempts + 1 if self.lacks_topics else 0

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
        its Fetch is refused.
        """
        consumer, now = self.consumer, self.engine.now
        consumer.touch()  # so that it is known when that is
        self.is_behind = True
        lost = next((p for p in consumer.feed.shares if p.topic == shrunk), None)
        if lost is not None and not consumer.habits.runs_itself:
            broker = max(0, consumer.world.brokers.leaders[lost])
            refused_us = now + 3 * consumer.link(broker).latency_us(now)
            self.engine.at(refused_us, consumer.rank + NEWS, self._is_refused, consumer.life)

    def _is_refused(self, life: int) -> None:
        if life == self.consumer.life and self.consumer.is_alive:
            self._take()

    # ---------------------------------------------------------------------------- again and again

    @property
    def lacks_topics(self) -> bool:
        """Is a topic that it asks for by name not there? Such an answer makes it ask again
        (Metadata.handleMetadataResponse). Other libraries than Kafka's own keep to their period
        here: what they do is not known.
        """
        consumer = self.consumer
        return (
            not consumer.habits.runs_itself
            and consumer.pattern is None
            and not all(self.view.values())
        )

    def next_us(self) -> int:
        """When it asks next: metadata.max.age.ms after the last answer; after one without a topic
        retry.backoff.ms, twice as long each time up to its maximum.
        """
        config, attempts = self.consumer.config, self.attempts
        backoff, longest = int(config.retry_backoff_us), int(config.retry_backoff_max_us)
        if attempts:
            wait = min(backoff << min(attempts - 1, 32), max(longest, backoff))
        else:
            wait = max(int(config.metadata_max_age_us) + self.consumer.heartbeat.late_us, backoff)
        return self.refreshed_us + max(wait, LEAST_US)

    @property
    def is_left_out(self) -> bool:
        """Is it nobody's business when it asks, as long as quiet time is skipped?"""
        quiet = self.consumer.quiet
        return quiet is not None and quiet.leaves_out_refreshes

    def plan(self) -> None:
        """Plan when the client asks for metadata again."""
        if self.is_left_out:
            return
        self.engine.at(self.next_us(), self.consumer.rank + NEWS, self._is_due, self._turn)

    @property
    def _turn(self) -> tuple[int, int]:
        """Which of its refreshes comes next: an answer ends it, as the client's end does."""
        return self.consumer.life, self.refreshed_us

    def _is_of(self, turn: tuple[int, int]) -> bool:
        return turn == self._turn and self.consumer.is_alive

    def _is_due(self, turn: tuple[int, int]) -> None:
        consumer, now = self.consumer, self.engine.now
        if self.is_asked_for or not self._is_of(turn):
            return
        if self.next_us() > now:  # its clock was set only after it had asked
            self.plan()
            return
        rest = consumer.skipped
        if rest is not None and not self.is_behind:
            if not self.may_wait(now):
                self.refresh()
                return
            if rest.makes_up_for_refreshes:
                return
        self.is_asked_for = True
        consumer.touch()
        fetch = consumer.feed.flying.get(self.asked_broker) if self.may_wait(now) else None
        answered_us = now if fetch is None else self.answered_us(now, fetch.leaves_us)
        if answered_us > now:
            self.is_answered_at(answered_us)
        else:
            self._take()

    def may_wait(self, at_us: int) -> bool:
        """May the answer wait behind a Fetch, if it asks now?"""
        consumer = self.consumer
        return bool(
            consumer.feed.shares
            and at_us >= consumer.feed.began_us
            and self.asked_broker >= 0
            and not self.attempts
            and not consumer.habits.runs_itself
        )

    @property
    def asked_broker(self) -> int:
        return int(next(iter(self.consumer.feed.shares.values())).broker)

    def answered_us(self, asked_us: int, leaves_us: int) -> int:
        """When the answer comes to a client that asks now, if a Fetch's answer leaves then; at
        once where that has left already.
        """
        latency = int(self.consumer.link(self.asked_broker).latency_us(asked_us))
        if leaves_us <= asked_us + latency:
            return asked_us
        return leaves_us + int(self.consumer.machine.service_us) + latency

    def is_answered_at(self, us: int) -> None:
        self.is_asked_for = True
        self.engine.at(us, self.consumer.rank + NEWS, self._is_answered, self._turn)

    def _is_answered(self, turn: tuple[int, int]) -> None:
        if self._is_of(turn):
            self._take()

    def _take(self) -> None:
        """The answer is there. What brings nothing new disturbs nobody."""
        if not self.is_behind:
            self.refresh()
            return
        self.consumer.touch()  # what it did before, it did without knowing
        self.refresh()
        self.consumer.metadata_came()
