"""The steady cycle of a consumer that keeps up: when each batch came and comes, in closed form, for
as long as nothing happens.

With handlers that cost nothing, or little against the spacing of arrivals, every arrival is a
batch. Where batches overlap, the cycle is the one in which a batch takes in just what arrives
while the last one is handled. Both ways of running (sleeping, and tick by tick) ask this
arithmetic, so they cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rebalsim.simulation.engine import NEVER

if TYPE_CHECKING:
    from rebalsim.simulation.feed import Feed
    from rebalsim.simulation.shares import Share


class Round(NamedTuple):
    """Where a consumer stands within one round of arrivals."""

    handed_us: int  # all that had arrived by then is handed over
    began_us: int  # the last batch was handed over at …
    ended_us: int  # … and is handled by …
    leaves_us: int  # the Fetch in flight (or just landed) leaves the broker at …
    next_us: int  # … and the next batch is handed over at


class Cycle:
    """`period_us` 0: a batch with each arrival, handled for `fixed_us` + `per_record_us` a
    record. Else one each period, from `anchor_us` on.
    """

    __slots__ = (
        "_before",
        "_before_us",
        "_known",
        "anchor_us",
        "busy_us",
        "fixed_us",
        "flows",
        "has_batches",
        "kinds",
        "latency_us",
        "most_us",
        "per_record_us",
        "period_us",
        "polled_us",
        "rate",
        "ready_us",
        "spacing_us",
    )

    def __init__(
        self, flows: list[Any], latency_us: int, anchor_us: int, polled_us: int, most_us: int
    ) -> None:
        self.flows = flows
        self.kinds = _kinds(flows)  # what is so for one flow of a kind is so for all of them
        self.most_us = most_us  # fetch.max.wait.ms
        # partitions of one rate whose records do not all come at once: from one round to the next
        self.spacing_us = 0
        self.ready_us = 0  # what lies ready takes so much longer to come than what is waited for
        self._known: tuple[int, Round] | None = (
            None  # the last answers: one turn of the application asks the same several times
        )
        self._before_us = -1
        self._before = (0, 0)
        self.latency_us = latency_us
        self.anchor_us = anchor_us  # where the cycle begins
        self.polled_us = polled_us  # when the poll() that was running then had begun
        # of each flow, where all are of one kind and a batch comes with each round: records a µs
        self.rate = 0.0
        self.period_us = 0
        self.busy_us = 0
        self.fixed_us = 0.0
        self.per_record_us = 0.0
        self.has_batches = False  # does the handler take any time?

    def forget(self) -> None:
        """The flows are others than they were: what was worked out for this instant may not
        hold.
        """
        self._known, self._before_us = None, -1

    @property
    def is_full(self) -> bool:
        """Does the next batch begin where one ends? At that instant the application is in
        poll(), and the next batch not handed over yet.
        """
        return self.period_us > 0 and self.busy_us >= self.period_us

    # -------------------------------------------------------------------------------------- batches

    def _last_arrival(self, upto_us: int) -> int:
        last = -1
        for flow, _ in self.kinds:
            count = flow.count(upto_us)
            if count:
                at = flow.when(count - 1)
                if at > last:
                    last = at
        return last

    def _busy_with(self, arrival_us: int) -> int:
        if not self.has_batches:
            return 0
        records = sum(
            many * (flow.count(arrival_us) - flow.count(arrival_us - 1))
            for flow, many in self.kinds
        )
        return int(self.fixed_us + self.per_record_us * records)

    def batch_before(self, at_us: int) -> tuple[int, int]:
        """When the last batch at or before this instant was handed over, and when its handling
        ends; (anchor, anchor) if there was none.
        """
        if self.period_us:
            if at_us < self.anchor_us:
                return self.anchor_us, self.anchor_us
            began = at_us - (at_us - self.anchor_us) % self.period_us
            return began, began + self.busy_us
        if at_us != self._before_us:
            self._before_us, self._before = at_us, self._found_before(at_us)
        return self._before

    def _found_before(self, at_us: int) -> tuple[int, int]:
        if self.spacing_us:
            position = self._round(at_us)
            if position is not None:
                return position.began_us, position.ended_us
        arrival = self._last_arrival(at_us - self.latency_us)
        began = arrival + self.latency_us
        if arrival < 0 or began <= self.anchor_us:
            return self.anchor_us, self.anchor_us
        return began, began + self._busy_with(arrival)

    def batch_after(self, at_us: int) -> int:
        """When the next batch after this instant is handed over."""
        if self.period_us:
            if at_us < self.anchor_us:
                return self.anchor_us
            return at_us - (at_us - self.anchor_us) % self.period_us + self.period_us
        if self.spacing_us:
            position = self._round(at_us)
            if position is not None:
                return position.next_us
        after = max(at_us, self.anchor_us) - self.latency_us
        nearest = min((flow.next_after(after) for flow, _ in self.kinds), default=NEVER)
        return nearest if nearest >= NEVER else int(nearest) + self.latency_us

    def handed_over(self, at_us: int) -> int:
        """All that had arrived at the brokers by the instant returned is handed over at this
        one.
        """
        if self.period_us:
            return (
                self.batch_before(at_us - self.is_full)[0] - self.latency_us
                if at_us >= self.anchor_us
                else -1
            )
        if self.spacing_us:
            position = self._round(at_us)
            if position is not None:
                return position.handed_us
        return at_us - self.latency_us

    def _round(self, at_us: int) -> Round | None:
        """One Fetch after another since the round's first record came: each brings what is there
        when it arrives, or the next to come.

        A round begins after the longest silence; the application is idle then, and the Fetch
        parked. None before the cycle's first.
        """
        if self._known is not None and self._known[0] == at_us:
            return self._known[1]
        times: list[int] = []
        for flow, many in self.kinds:
            count = flow.count(at_us)
            times += [flow.when(number) for number in range(max(0, count - 2), count)] * many
        times.sort()
        silence, first = 0, -1
        for i in range(1, len(times)):
            if times[i] - times[i - 1] >= silence:
                silence, first = times[i] - times[i - 1], i
        if first < 0 or times[first] + self.latency_us > at_us or times[first] < self.anchor_us:
            return None
        leaves = after = times[first]
        handed, began, free = leaves - 1, self.anchor_us, self.anchor_us
        while True:
            batch = max(leaves + self.latency_us + (self.ready_us if after < leaves else 0), free)
            if batch > at_us:
                break
            records = sum(1 for time in times if handed < time <= leaves)
            handed, began = leaves, batch
            free = batch + int(self.fixed_us + self.per_record_us * records)
            after = next((time for time in times if time > handed), NEVER)
            if after == NEVER:
                after = min(flow.next_after(handed) for flow, _ in self.kinds)
            parked = batch + self.latency_us
            leaves = max(parked, min(after, parked + self.most_us))
        found = Round(
            handed, began, free, leaves, batch if after <= leaves else after + self.latency_us
        )
        self._known = at_us, found
        return found

    def mean_wait_us(self, most_us: int) -> int:
        """How long somebody who comes at any time waits for the batch at hand, on average, if a
        wait lasts `most_us` at most.
        """
        if self.period_us:
            busy, period = float(self.busy_us), self.period_us
        else:
            rate = self.flows[0].rate_at(self.anchor_us) if self.flows else 0.0
            if not rate:
                return 0
            busy, period = self.fixed_us + self.per_record_us * len(self.flows), round(1 / rate)
        return round(min(1.0, busy / period) * min(busy, most_us) / 2)

    def wait_at(self, at_us: int) -> int:
        """How long the batch at hand will go on; by the rate alone where that tells it, to
        within a µs or so.
        """
        rate = self.rate
        if not rate or at_us <= self.anchor_us + self.latency_us:
            return self.free_at(at_us) - at_us
        flow, many = self.kinds[0]
        rounds = (at_us - self.latency_us - flow.is_flowing_since) * rate
        left = self.fixed_us + self.per_record_us * many - (rounds - int(rounds)) / rate
        return int(left) if left > 0.0 else 0

    def free_at(self, at_us: int) -> int:
        """When the application is in poll() again: now, or at the end of the batch at hand."""
        if not self.has_batches:
            return at_us
        ended = self.batch_before(at_us - self.is_full if self.period_us else at_us)[1]
        return ended if ended > at_us else at_us

    def poll_ends(self, at_us: int, timeout_us: int) -> int:
        """When the poll() that is running runs out of time."""
        began, ended = self.batch_before(at_us)
        start = self.polled_us if began == self.anchor_us and not self.period_us else ended
        if at_us < start or timeout_us <= 0:
            return max(start, at_us) + timeout_us
        return start + ((at_us - start) // timeout_us + 1) * timeout_us

    def last_look(self, looked_us: int, tick_us: int, now_us: int, timeout_us: int) -> int:
        """When the heartbeat thread had its last look, if one was at `looked_us`.

        A look needs the network client's lock, which poll() holds while it waits: so it comes a
        tick after the one before where the application is with a batch then, and else when
        poll()'s wait next ends, with a batch or with its time.
        """
        while looked_us + tick_us <= now_us:
            wakes = looked_us + tick_us
            at = (
                wakes
                if self.free_at(wakes) > wakes
                else min(self.batch_after(wakes - 1), self.poll_ends(wakes - 1, timeout_us))
            )
            if at > now_us:
                break
            looked_us = max(at, wakes)
        return looked_us

    def fetch_leaves(self, shares: Iterable[Share], at_us: int, most_us: int) -> int:
        """When the Fetch that is in flight now leaves the broker: with the next record, or when
        its wait is over.
        """
        if self.spacing_us:
            position = self._round(at_us)
            if position is not None:
                return position.leaves_us
        began = self.batch_before(at_us)[0]
        nearest = NEVER
        handed = self.handed_over(at_us)
        for share in shares:
            nearest = min(nearest, share.flow.next_after(handed))
        parked = began + self.latency_us
        over = parked + most_us
        if (
            over + self.latency_us <= at_us
        ):  # it came back empty, and was sent again, perhaps many times
            period = most_us + 2 * self.latency_us
            over += period * ((at_us - over - self.latency_us) // period + 1)
        return max(parked, min(nearest, over)) if nearest > parked else parked

    def batches(
        self, shares: Iterable[Share], after_us: int, until_us: int
    ) -> Iterator[tuple[int, int]]:
        """Each batch with the arrivals it covers: (handed over at, all that had arrived by)."""
        if self.rate and after_us >= self.anchor_us:
            for _, at in self.kinds[0][0].arrivals(
                after_us - self.latency_us, until_us - self.latency_us
            ):
                yield at + self.latency_us, at
            return
        at = self.batch_after(after_us)
        while at <= until_us:
            yield at, self.handed_over(at) if self.spacing_us else at - self.latency_us
            at = self.batch_after(at)


def _kinds(flows: list[Any]) -> list[tuple[Any, int]]:
    found: list[list[Any]] = []
    for flow in flows:
        for kind in found:
            if flow is kind[0] or flow.is_like(kind[0]):
                kind[1] += 1
                break
        else:
            found.append([flow, 1])
    return [(flow, many) for flow, many in found]


def cycle_of(feed: Feed, now: int) -> Cycle | None:
    """The cycle that this consumer is in, None while it does not keep up."""
    consumer = feed.consumer
    shares = feed.shares.values()
    if not shares:  # nothing to read: it sits in one poll() after the other
        timeout = feed.handler.poll_timeout_us
        return Cycle([], 0, now, consumer.deadline_us - timeout, feed.config.fetch_max_wait_us)
    flows = [share.flow for share in shares]
    link = consumer.link(next(iter(shares)).broker)
    latency = link.latency_us(0) if link.fixed_us < 0 else link.fixed_us + link.extra_us
    slowness = consumer.slowness
    per_record = feed.per_record_us * slowness
    fixed = feed.per_batch_us * slowness + consumer.commits.each_batch_us()
    timeout = feed.handler.poll_timeout_us
    cycle = Cycle(
        flows, latency, now, consumer.deadline_us - timeout, feed.config.fetch_max_wait_us
    )
    cycle.ready_us = feed.ready_us
    kinds = cycle.kinds
    rates = [flow.rate_at(now) for flow, _ in kinds]
    per_us = sum([rate * many for rate, (_, many) in zip(rates, kinds, strict=True)])
    lag = sum([flow.count(now) * many for flow, many in kinds]) - sum(
        [share.offset for share in shares]
    )
    # Nothing waits at the brokers; a partition that came since the Fetch was sent is not part of
    # it.
    is_parked = all(
        fetch.is_parked for fetch in feed.flying.values()
    ) and lag <= per_us * 4 * latency + 2 * len(flows)
    load = per_us * per_record
    if load >= 1.0:
        return None
    rate = rates[0]
    if (
        rates.count(rate) == len(rates)
        and (fixed * len(flows) + len(flows) * per_record + 4 * latency) * rate <= 1.0
    ):
        cycle.fixed_us, cycle.per_record_us, cycle.has_batches = (
            fixed,
            per_record,
            bool(fixed or per_record),
        )
        first, *others = kinds
        if rate and any(flow.next_after(now) != first[0].next_after(now) for flow, _ in others):
            cycle.spacing_us = int(1 / rate)
        elif not others and first[0].is_constant:
            cycle.rate = rate
        return cycle if is_parked else None
    if not per_record and not fixed:
        return cycle if is_parked else None
    period = max(fixed / (1.0 - load), 1.0 / per_us if per_us else 0.0, 1.0)
    records = per_us * period
    if records > feed.config.max_poll_records or lag > records + per_us * 4 * latency + len(flows):
        return None
    if not feed.buffer:
        cycle.anchor_us = max(
            now, min((fetch.lands_us for fetch in feed.flying.values()), default=now)
        )
    cycle.period_us = round(period)
    cycle.busy_us = min(cycle.period_us, round(fixed + records * per_record))
    cycle.has_batches = cycle.busy_us > 0
    return cycle
