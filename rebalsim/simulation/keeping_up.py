"""Whether an application keeps up with what arrives: nothing of what lay behind is left, and the
batches to come hold no more than what arrives while it handles one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.simulation.shares import FETCHING

if TYPE_CHECKING:
    from rebalsim.simulation.inside import FeedInside


def keeps_up(feed: FeedInside) -> bool:
    """Seen from inside poll(), before it hands over what is buffered or begins to wait."""
    is_busy = bool(feed.buffer)  # it hardly ever waits, yet gets all that has come each time
    if feed.is_suspended or not feed.shares or not _reads_all(feed, is_busy):
        return False
    now, consumer = feed.engine.now, feed.consumer
    shares = feed.shares.values()
    count = len(feed.shares)
    kinds = kinds_of([share.flow for share in shares])
    rates = [flow.rate_at(now) for flow, _ in kinds]
    per_us = sum([rate * many for rate, (_, many) in zip(rates, kinds, strict=True)])
    lag = sum([flow.count(now) * many for flow, many in kinds]) - sum([s.offset for s in shares])
    link = consumer.link(next(iter(shares)).broker)
    latency = link.latency_us(0) if link.fixed_us < 0 else link.fixed_us + link.extra_us
    is_parked = all(fetch.is_parked for fetch in feed.flying.values()) and (
        lag <= per_us * 4 * latency + 2 * count
    )
    per_record = feed.per_record_us * consumer.slowness
    fixed = feed.per_batch_us * consumer.slowness + consumer.commits.each_batch_us()
    load = per_us * per_record
    if load >= 1.0:
        return False
    a_round = fixed * count + count * per_record + 4 * latency
    waits_between = rates.count(rates[0]) == len(rates) and a_round * rates[0] <= 1.0
    if waits_between or (not per_record and not fixed):
        return is_parked and not is_busy
    period = max(fixed / (1.0 - load), 1.0 / per_us if per_us else 0.0, 1.0)
    records = per_us * period
    if records > feed.config.max_poll_records or lag > records + per_us * 4 * latency + count:
        return False
    busy = min(round(period), round(fixed + records * per_record))
    return not is_busy or busy >= round(period)


def _reads_all(feed: FeedInside, is_busy: bool) -> bool:
    """Is every partition being read, and every answer on its way that is waited for?"""
    if any(fetch.elsewhere for fetch in feed.flying.values()):
        return False
    poisons, now = feed.consumer.world.poisons, feed.engine.now
    for share in feed.shares.values():
        if (
            share.state != FETCHING
            or share.broker < 0
            or (share.is_new if is_busy else share.broker not in feed.flying)
        ):
            return False
        if share.partition in poisons.by_partition and poisons.lie_ahead(
            share.partition, feed.consumer.group, share.offset, share.flow.count(now) + 1
        ):
            return False
    return True


def kinds_of(flows: list[Any]) -> list[tuple[Any, int]]:
    """Flows whose records come at the very same instants, each kind with how many there are."""
    found: list[list[Any]] = []
    for flow in flows:
        for kind in found:
            if flow is kind[0] or flow.is_like(kind[0]):
                kind[1] += 1
                break
        else:
            found.append([flow, 1])
    return [(flow, many) for flow, many in found]
