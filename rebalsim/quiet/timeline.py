"""When a quiet client is busy with a batch, and what it has handed over by an instant: one round
after each arrival, the first from where the Fetches stand now, all others alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rebalsim.quiet.rounds import Batch, Costs, Parked, Round, round_from
from rebalsim.simulation.standing import ANSWERED, APP, ARRIVES, NEVER, Flight, Standing

Moment = tuple[int, int]  # an instant, and the rank of what happens at it


@dataclass(slots=True)
class Handed:
    """What was handed over by a moment."""

    rounds: int  # arrivals so far
    arrived_us: int  # the last one, if there was any
    round: Round | None
    begun: tuple[Batch, ...]  # its batches so far
    taken: dict[int, int]  # brokers whose records of this round wait: records before it


class Timeline:
    """The rounds from now on."""

    __slots__ = (
        "_alike",
        "_begins_us",
        "_count",
        "_first",
        "_flow",
        "_parked",
        "_rank",
        "_spacing_us",
        "shortest_us",
    )

    def __init__(self, standing: Standing, first: Round, alike: Round) -> None:
        self._flow: Any = standing.flow
        self._count = self._flow.count(standing.now_us)
        self._begins_us = standing.next_us
        spacing = 1.0 / self._flow.rate_at(standing.now_us)
        self.shortest_us = int(spacing)  # from one arrival to the next, at least …
        # … and always, if it is a whole number
        self._spacing_us = round(spacing) if abs(round(spacing) - spacing) < _EXACT else 0
        self._first, self._alike = first, alike
        self._rank = standing.first_rank
        self._parked = parked_of(standing)

    @property
    def takes_time(self) -> bool:
        """Is the application ever away from poll()?"""
        return self._alike.ends_us > self._alike.begins_us

    @property
    def longest_us(self) -> int:
        """So long it is away from poll() at most."""
        return max([r.ends_us - r.begins_us for r in (self._first, self._alike)])

    @property
    def alike(self) -> Round:
        """What all rounds but the first are like."""
        return self._alike

    def period_us(self) -> int:
        """After how long arrivals come at the very same instants again; 0 if that is not known."""
        if self._spacing_us:
            return self._spacing_us
        here = [self._flow.when(self._count + i) for i in range(MOST_IN_PERIOD + 1)]
        for many in range(1, MOST_IN_PERIOD + 1):
            period = here[many] - here[0]
            exact = many * 1.0 / self._flow.rate_at(here[0])
            if abs(exact - period) < _EXACT and all(
                self._flow.when(self._count + k * many) == here[0] + k * period
                for k in (1, 2, 3, 1000)
            ):
                return int(period)
        return 0

    def round_at(self, at_us: int) -> tuple[int, Round] | None:
        """The last arrival up to this instant, and its round."""
        if at_us < self._begins_us:
            return None
        if self._spacing_us:
            arrived = at_us - (at_us - self._begins_us) % self._spacing_us
            return arrived, self._first if arrived == self._begins_us else self._alike
        many = self._flow.count(at_us) - self._count
        arrived = self._flow.when(self._count + many - 1)
        return arrived, self._first if many == 1 else self._alike

    def free_at(self, at_us: int) -> int:
        """The first pass of poll() from this instant on, if a batch is at hand then; else −1."""
        found = self.round_at(at_us)
        if found is None:
            return -1
        arrived, played = found
        since = at_us - arrived
        if not played.begins_us <= since < played.ends_us:
            return -1
        for batch in played.batches:
            if batch.begins_us <= since < batch.handled_us or since == batch.ends_us:
                return arrived + batch.ends_us
        return -1  # it commits, and looks at the network meanwhile

    def finds_free(self, at_us: int, step_us: int, most: int) -> int:
        """So many in a row, each a step after the last and the first at this instant, certainly
        find it in poll(): no more than asked for, perhaps fewer.
        """
        spacing = self._spacing_us
        if not spacing or at_us < self._begins_us:
            return 0
        begins = min(self._first.begins_us, self._alike.begins_us)
        ends = max(self._first.ends_us, self._alike.ends_us)
        since, step, found = (at_us - self._begins_us) % spacing, step_us % spacing, 0
        if not step and not begins <= since <= ends:
            return max(0, most)
        most = min(most, MOST_IN_A_ROW)
        while found < most and not begins <= since <= ends:
            found += 1
            since += step
            if since >= spacing:
                since -= spacing
        return found

    def handled_at(self, at_us: int) -> int:
        """When the batch is handled that is at hand at this instant; −1 if none is."""
        found = self.round_at(at_us)
        if found is not None:
            arrived, played = found
            for batch in played.batches:
                if batch.begins_us <= at_us - arrived < batch.handled_us:
                    return arrived + batch.handled_us
        return -1

    def handed_by(self, moment: Moment) -> Handed:
        """How far it had come by this moment."""
        at_us, rank = moment
        many = self._flow.count(at_us) - self._count
        is_yet = rank <= self._rank + ARRIVES  # an arrival at this instant is yet to be noticed
        if is_yet and many > 0 and self._flow.when(self._count + many - 1) == at_us:
            many -= 1
        if many <= 0:
            return Handed(0, 0, None, (), {})
        arrived = self._flow.when(self._count + many - 1)
        played = self._first if many == 1 else self._alike
        begun: list[Batch] = []
        for batch in played.batches:
            is_next = bool(begun) and begun[-1].ends_us > begun[-1].begins_us
            turn = self._rank + (APP if is_next else ANSWERED)
            if (arrived + batch.begins_us, turn) < moment:
                begun.append(batch)
        read = {broker for batch in begun for broker in batch.brokers}
        before = self._count + many - 1
        taken = {broker: before for broker, _ in played.answers if broker not in read}
        return Handed(many, arrived, played, tuple(begun), taken)

    def count(self, handed: Handed) -> int:
        """Records of each partition that were handed over."""
        return int(self._count + handed.rounds)

    def parked_before(self, handed: Handed) -> tuple[int, tuple[Parked, ...]]:
        """How the Fetches stood when the last round began: from which instant that is told."""
        if handed.rounds <= 1:
            return 0, self._parked
        before = self._flow.when(self._count + handed.rounds - 2)
        return before, (self._first if handed.rounds == 2 else self._alike).parked


MOST_IN_PERIOD = 60
MOST_IN_A_ROW = 10_000
_EXACT = 1e-6


def parked_of(standing: Standing) -> tuple[Parked, ...]:
    """The Fetches that wait now."""
    return tuple(
        [
            Parked(
                fetch.broker,
                fetch.since_us,
                fetch.partitions,
                fetch.latency_us,
                max(2 * fetch.latency_us, standing.service_us),
            )
            for fetch in standing.fetches
        ]
    )


def costs_of(standing: Standing) -> Costs:
    """What its batches cost."""
    return Costs(
        standing.per_record_us,
        int(standing.per_batch_us),
        standing.service_us,
        standing.max_wait_us,
        standing.max_records,
        standing.brokers,
        standing.commit_us,
    )


def timeline_of(standing: Standing) -> Timeline | None:
    """The rounds to come, if all but the first will be alike."""
    if not standing.is_even or standing.next_us >= NEVER:
        return None
    shortest = int(1.0 / standing.flow.rate_at(standing.now_us))
    parked = _back(parked_of(standing), standing.next_us)
    rounds = _rounds_to_come(parked, shortest, costs_of(standing))
    return Timeline(standing, *rounds) if rounds is not None else None


@lru_cache(maxsize=4096)
def _rounds_to_come(
    parked: tuple[Parked, ...], shortest_us: int, costs: Costs
) -> tuple[Round, Round] | None:
    """The first round and all others, where these are alike, with rounding or without."""
    first = round_from(parked, 0, costs)
    if first is None or first.settles_us >= shortest_us:
        return None
    alike = round_from(_back(first.parked, shortest_us), 0, costs)
    if alike is None or alike.settles_us >= shortest_us:
        return None
    for spacing in range(shortest_us - 1, shortest_us + 3):
        if round_from(_back(alike.parked, spacing), 0, costs) != alike:
            return None
    return first, alike


def _back(parked: tuple[Parked, ...], us: int) -> tuple[Parked, ...]:
    """The same, told from an instant so much later."""
    return tuple(
        [Parked(f.broker, f.since_us - us, f.partitions, f.latency_us, f.again_us) for f in parked]
    )


def flight_of(fetch: Parked, from_us: int, moment: Moment, rank: int, max_wait_us: int) -> Flight:
    """A Fetch of which no record came since it began to wait: where it is by this moment."""
    at_us, _ = moment
    since = from_us + fetch.since_us
    period = max_wait_us + fetch.again_us
    if at_us > since:
        since += (at_us - since) // period * period
        if (since, rank + ARRIVES) >= moment:
            since -= period
    left, back = since + max_wait_us, since + max_wait_us + fetch.latency_us
    if (left, rank + ARRIVES) >= moment:
        return Flight(fetch.broker, since)
    if (back, rank + ANSWERED) >= moment:
        return Flight(fetch.broker, since, left)
    return Flight(fetch.broker, since + period)


def last_empty_us(fetch: Parked, from_us: int, moment: Moment, rank: int, max_wait_us: int) -> int:
    """When its last empty answer came by this moment; −1 if none did."""
    period = max_wait_us + fetch.again_us
    first = from_us + fetch.since_us + max_wait_us + fetch.latency_us
    at_us, _ = moment
    if (first, rank + ANSWERED) >= moment:
        return -1
    came = first + (at_us - first) // period * period
    return came if (came, rank + ANSWERED) < moment else came - period


__all__ = [
    "Handed",
    "Moment",
    "Timeline",
    "costs_of",
    "flight_of",
    "last_empty_us",
    "parked_of",
    "timeline_of",
]
