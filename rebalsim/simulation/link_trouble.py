"""A consumer's lines to the brokers, and what is wrong with them: cut, or slower. Trouble of the
machine: it outlives processes and connections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalsim.domain.draws import Draw
from rebalsim.simulation.lag import mark
from rebalsim.simulation.network import Link

if TYPE_CHECKING:
    from rebalsim.simulation.ports import Client


class LinkTrouble:
    """All links of one consumer, of which new ones suffer what the old ones do."""

    __slots__ = ("_consumer", "_cuts", "_cuts_from_all", "_extras")

    def __init__(self, consumer: Client) -> None:
        self._consumer = consumer
        self._cuts = 0  # cuts from the coordinator that have not healed
        self._cuts_from_all = 0
        self._extras: list[Draw] = []

    def follow(self, consumer: Client) -> None:
        """The machine's lines are this consumer's now: the same one, with another client."""
        self._consumer = consumer

    @property
    def is_cut_from_some(self) -> bool:
        return self._cuts + self._cuts_from_all > 0

    def fit(self, link: Link, is_coordinators: bool) -> Link:
        """A new connection, or one of which something changed."""
        is_cut = self._cuts_from_all > 0 or (is_coordinators and self._cuts > 0)
        if link.is_cut and not is_cut:
            link.heal(self._consumer.config.request_timeout_us)
        link.is_cut = is_cut
        world = self._consumer.world
        extras = [*self._extras, *world.brokers.waits.get(link.broker, ())]
        link.burden(
            extras,
            world.randomness.stream(f"extra/{self._consumer.name}") if extras else None,
        )
        return link

    def cut(self, from_all: bool) -> None:
        """From now on nothing gets through, either way."""
        self.prepare()
        if from_all:
            self._cuts_from_all += 1
            if self._consumer.is_alive:
                for fetch in self._consumer.feed.flying.values():
                    link = self._consumer.link(fetch.broker)
                    link.stall(
                        max(
                            self._consumer.engine.now,
                            fetch.lands_us - link.latency_us(fetch.lands_us),
                        )
                    )
                self._consumer.feed.flying.clear()  # what a broker holds for it cannot be sent
                mark(self._consumer, self._consumer.feed.shares.values())
        else:
            self._cuts += 1
        self.refit()
        if self._consumer.is_alive and from_all:
            self._consumer.wake_for_business()

    def heal(self, from_all: bool) -> None:
        """What is sent from now on gets through."""
        if from_all:
            self._cuts_from_all -= 1
        else:
            self._cuts -= 1
        self.refit()
        if self._consumer.is_alive:
            if from_all:
                self._consumer.feed.renew()
            self._consumer.wake_for_business()

    def slow_down(self, extra: Draw) -> None:
        """Every message takes so much longer."""
        self.prepare()
        self._extras.append(extra)
        self.refit()

    def speed_up(self, extra: Draw) -> None:
        self.prepare()
        self._extras.remove(extra)
        self.refit()

    def prepare(self) -> None:
        """What was told in advance holds up to now."""
        consumer = self._consumer
        if consumer.is_alive and not consumer.is_frozen:
            consumer.touch()

    def refit(self) -> None:
        consumer = self._consumer
        if not consumer.is_alive:
            return
        for link in consumer.data_links():
            self.fit(link, False)
        if consumer.coordinator_link is not None:
            self.fit(consumer.coordinator_link, True)
