"""One round of a client that keeps up: what a record's arrival sets off, until the application
waits again with all its Fetches parked.

The brokers answer the Fetches that wait there, the nearest first; the application
hands over what the first answer brings, then what came meanwhile; each Fetch goes out anew when
its records are handed over. All instants are told from the arrival on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Parked(NamedTuple):
    """A Fetch that waits at a broker: since when, and what its way takes."""

    broker: int
    since_us: int
    partitions: int  # of how many it asks
    latency_us: int
    again_us: int  # from an empty answer until the next one waits there


@dataclass(frozen=True, slots=True)
class Batch:
    """Records handed over at one instant and handled by another: what these brokers sent. The
    next poll() is called when they are committed, where the application waits for that.
    """

    begins_us: int
    handled_us: int
    ends_us: int
    brokers: tuple[int, ...]


class Costs(NamedTuple):
    """What a round is made of, besides the Fetches."""

    per_record_us: float  # of handling …
    per_batch_us: int
    service_us: int
    max_wait_us: int
    most_records: int
    order: tuple[int, ...]  # of brokers, in which one pass sends Fetches
    commit_us: int  # of the application's own commit with each batch


@dataclass(frozen=True, slots=True)
class Round:
    """What happens after an arrival."""

    batches: tuple[Batch, ...]
    answers: tuple[tuple[int, int], ...]  # broker, when its answer lands; in that order
    sent: tuple[tuple[int, int], ...]  # broker, when its next Fetch leaves; in that order
    parked: tuple[Parked, ...]  # … and waits there, in the order in which they were sent

    @property
    def begins_us(self) -> int:
        """From here on the application is busy …"""
        return self.batches[0].begins_us

    @property
    def ends_us(self) -> int:
        """… until here; its poll() begins then."""
        return self.batches[-1].ends_us

    @property
    def settles_us(self) -> int:
        """By when all Fetches wait again, and nobody is busy."""
        return max(self.ends_us, *[fetch.since_us for fetch in self.parked])


def waiting_at(parked: tuple[Parked, ...], at_us: int, max_wait_us: int) -> list[Parked] | None:
    """The Fetches as they wait at this instant, when empty ones have come back and gone out
    again; None while one is on its way.
    """
    found: list[tuple[int, int, Parked]] = []
    for place, fetch in enumerate(parked):
        period = max_wait_us + fetch.again_us
        late = at_us - max_wait_us - fetch.since_us
        times = -(-late // period) if late > 0 else 0
        since = fetch.since_us + times * period
        if since >= at_us:
            return None
        found.append(
            (
                since,
                place,
                Parked(fetch.broker, since, fetch.partitions, fetch.latency_us, fetch.again_us),
            )
        )
    found.sort(key=lambda entry: entry[:2])
    return [fetch for _, _, fetch in found]


def round_from(parked: tuple[Parked, ...], arrives_us: int, costs: Costs) -> Round | None:
    """The round that an arrival at this instant sets off; None where it cannot be told so."""
    waiting = waiting_at(parked, arrives_us, costs.max_wait_us)
    if waiting is None:
        return None
    landing = sorted(
        [(fetch.latency_us, fetch) for fetch in waiting], key=lambda one: (one[0], one[1].broker)
    )
    batches: list[Batch] = []
    sent: list[tuple[int, int]] = []
    next_parked: list[Parked] = []
    free = landing[0][0]
    left = list(landing)
    while left:
        at = max(free, left[0][0])
        if batches and left[0][0] > free:
            return None  # it waits in between: a round has one stretch of work
        taken = [left.pop(0)]
        if batches and batches[-1].ends_us > batches[-1].begins_us:
            while left and left[0][0] <= at:
                taken.append(left.pop(0))
        records = sum(fetch.partitions for _, fetch in taken)
        if records > costs.most_records:
            return None
        by_broker = {fetch.broker: fetch for _, fetch in taken}
        handled = at + int(costs.per_record_us * records + costs.per_batch_us)
        free = handled + costs.commit_us
        batches.append(Batch(at, handled, free, tuple(by_broker)))
        for broker in costs.order:
            if broker in by_broker:
                fetch = by_broker[broker]
                sent.append((broker, at))
                since = max(at + fetch.latency_us, costs.service_us)
                next_parked.append(
                    Parked(broker, since, fetch.partitions, fetch.latency_us, fetch.again_us)
                )
    return Round(
        tuple(batches),
        tuple([(fetch.broker, at) for at, fetch in landing]),
        tuple(sent),
        tuple(next_parked),
    )
