"""How a client of the consumer protocol stands at the beginning of a poll(), told so that another
client, or the same one at another time, can be put where it stands: positions from what has come,
instants from now, partitions and brokers by their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rebalsim.simulation.asynchronous.events import PollEvent
from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.shares import Fetch, Fetched

Asked = tuple[tuple[int, int], ...]  # place, from which record on
Got = tuple[tuple[int, int, int], ...]  # … and how many


class UnderWay(NamedTuple):
    """A Fetch under way."""

    broker: int
    arrives_us: int
    parked_us: int
    leaves_us: int
    lands_us: int
    is_answered: bool
    asked: Asked
    got: Got


class State(NamedTuple):
    """All that decides what happens next, but for chances and for when records come later."""

    rank: int
    nexts_us: tuple[int, ...]  # of each kind: when its next record comes
    shares: tuple[tuple[int, int, int, bool], ...]  # place, offset, fetched, waits; in their order
    sessions: tuple[tuple[int, tuple[int, ...]], ...]
    flights: tuple[UnderWay, ...]
    buffer: tuple[tuple[int, int, int, int], ...]  # place, first, began at, count
    inbox: tuple[int, ...]  # whose answers nobody has read yet
    busy_us: tuple[int, ...]  # until when each broker is
    ways_us: tuple[int, ...]  # how long messages take to each
    woken: bool
    prefetches: bool
    event: tuple[int, bool, bool] | None


class Places:
    """A client's partitions and brokers, by their places: those of clients that read alike are
    alike.
    """

    __slots__ = ("_at", "_broker_at", "_broker_places", "_client", "kinds", "links", "shares")

    def __init__(self, client: Any, kind_of: dict[Any, int]) -> None:
        self._client = client
        self.shares = sorted(kind_of, key=lambda s: (kind_of[s], s.broker, s.partition))
        self.kinds = [kind_of[share] for share in self.shares]
        self._at = {share: place for place, share in enumerate(self.shares)}
        brokers = sorted({share.broker for share in self.shares})
        self._broker_at = {broker: place for place, broker in enumerate(brokers)}
        self._broker_places = [self._broker_at[share.broker] for share in self.shares]
        self.links = [client.link(broker) for broker in brokers]

    @property
    def are_where_they_were(self) -> bool:
        """Are they all read from where they were read?"""
        brokers = [self.links[place].broker for place in self._broker_places]
        return brokers == [share.broker for share in self.shares]

    def ground(self, flows: Sequence[Any]) -> tuple[Any, ...]:
        """What all that is learnt stands on."""
        client = self._client
        return (
            client.config,
            client.spec.handler,
            client.habits,
            client.is_warm,
            tuple([flow.told for flow in flows]),
            tuple(zip(self.kinds, self._broker_places, strict=True)),
        )

    # ----------------------------------------------------------------------------------- telling it

    def state(self, flows: Sequence[Any], counts: Sequence[int]) -> State:
        client, feed, now = self._client, self._client.feed, self._client.engine.now
        event = client.event
        return State(
            client.engine.rank - client.rank,
            tuple([flow.next_after(now) - now for flow in flows]),
            tuple(
                [
                    (
                        self._at[s],
                        self._rest(s, s.offset, counts),
                        self._rest(s, s.fetched, counts),
                        s.is_waiting,
                    )
                    for s in feed.shares.values()
                ]
            ),
            tuple(
                [
                    (self._broker_at[broker], tuple([self._at[feed.shares[p]] for p in session]))
                    for broker, session in feed.sessions.items()
                    if broker in self._broker_at
                ]
            ),
            tuple([self._flight(fetch, counts) for fetch in feed.flying.values()]),
            tuple(
                [
                    (
                        self._at[e.share],
                        self._rest(e.share, e.first, counts),
                        self._rest(e.share, e.began_at, counts),
                        e.count,
                    )
                    for e in feed.buffer
                ]
            ),
            tuple([self._broker_at[fetch.broker] for _, fetch in client.inbox]),
            tuple([max(0, link.busy_us - now) for link in self.links]),
            tuple([link.fixed_us + link.extra_us for link in self.links]),
            client.woken,
            client.heartbeat.prefetches,
            (event.hidden, event.is_fresh, event.is_complete) if event is not None else None,
        )

    def _rest(self, share: Any, offset: int, counts: Sequence[int]) -> int:
        return int(offset - counts[self.kinds[self._at[share]]])

    def _flight(self, fetch: Any, counts: Sequence[int]) -> UnderWay:
        now = self._client.engine.now
        return UnderWay(
            self._broker_at[fetch.broker],
            fetch.arrives_us - now,
            fetch.parked_us - now if fetch.parked_us < NEVER else NEVER,
            fetch.leaves_us - now,
            fetch.lands_us - now,
            fetch.is_answered,
            tuple([(self._at[s], self._rest(s, at, counts)) for s, at in fetch.asked]),
            tuple([(self._at[s], self._rest(s, at, counts), n) for s, at, n in fetch.got]),
        )

    # --------------------------------------------------------------------------------- putting it so

    def put(self, state: State, counts: Sequence[int]) -> None:
        """The client stands so now, where so many of each kind's records have come."""
        client, feed, now = self._client, self._client.feed, self._client.engine.now
        base = [counts[kind] for kind in self.kinds]
        feed.shares = {}
        for place, offset, fetched, is_waiting in state.shares:
            share = self.shares[place]
            feed.shares[share.partition] = share
            share.offset, share.fetched = base[place] + offset, base[place] + fetched
            share.is_waiting = is_waiting
        for broker, session in state.sessions:
            feed.sessions[self.links[broker].broker] = [self.shares[p].partition for p in session]
        feed.buffer = [
            _entry(self.shares[place], base[place] + first, base[place] + began, count)
            for place, first, began, count in state.buffer
        ]
        for link, busy_us in zip(self.links, state.busy_us, strict=True):
            link.busy_us = max(now + busy_us, 0) if busy_us else min(link.busy_us, now)
        client.woken = state.woken
        client.event = _event(now, state.event)
        client.heartbeat.fetch_ahead(state.prefetches)
        client.alarm.forget()
        client.heartbeat.bell.clock.forget()
        self._fly(state, base)
        client.heartbeat.plan()

    def _fly(self, state: State, base: list[int]) -> None:
        client, feed, now = self._client, self._client.feed, self._client.engine.now
        feed.flying.clear()
        landed: dict[int, Any] = {}
        for flight in state.flights:
            fetch = Fetch(self.links[flight.broker].broker, client.life, [])
            fetch.arrives_us = now + flight.arrives_us
            fetch.parked_us = now + flight.parked_us if flight.parked_us < NEVER else NEVER
            fetch.leaves_us, fetch.lands_us = now + flight.leaves_us, now + flight.lands_us
            fetch.is_answered = flight.is_answered
            fetch.asked = [(self.shares[place], base[place] + at) for place, at in flight.asked]
            fetch.got = [(self.shares[place], base[place] + at, n) for place, at, n in flight.got]
            if flight.broker in state.inbox:
                feed.flying[fetch.broker] = landed[flight.broker] = fetch
            else:
                feed.take_up(fetch)
        client.inbox = [(None, landed[broker]) for broker in state.inbox]


def _entry(share: Any, first: int, began_at: int, count: int) -> Fetched:
    entry = Fetched(share, first, count)
    entry.began_at = began_at
    return entry


def _event(now_us: int, told: tuple[int, bool, bool] | None) -> PollEvent | None:
    if told is None:
        return None
    event = PollEvent(now_us, now_us)
    event.hidden, event.is_fresh, event.is_complete = told
    return event
