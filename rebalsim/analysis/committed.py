"""How far a group had committed each partition at an instant: what `kafka-consumer-groups
--describe` shows.

A trace tells commits before rebalances and where new owners began, which is exact; it does not
tell each periodic commit of steady times. Those are reckoned: every `auto.commit.interval.ms` as
long as the consumer polls. Its clock begins with the process and anew with each assignment that
it was given (ConsumerCoordinator.onJoinComplete; under the consumer protocol each finished
reconciliation).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.committed_streams import committed_by_threads
from rebalsim.analysis.values import Holding, MemberLife, Span
from rebalsim.domain.callback import Callback
from rebalsim.domain.client import ClientConfig
from rebalsim.domain.doing import Doing
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.position_from import PositionFrom
from rebalsim.trace import events as ev
from rebalsim.trace.trace import ConsumerFacts

Handled = Callable[[Partition, int], int | None]
NEVER = -1


def committed_at(a: Analysis, group: str, at_us: int, handled: Handled) -> dict[Partition, int]:
    """Each partition's committed offset; partitions without one are left out. `handled` is how
    far a partition had been handled by an instant.
    """
    if any(f.group == group and f.is_of_streams for f in a.header.consumers.values()):
        return committed_by_threads(a, group, at_us, handled)
    members = {m.consumer: m for m in a.members}
    positions = _positions_of(a, group)
    found: dict[Partition, int] = {}
    for (of, p), holdings in a.holdings.items():
        if of == group:
            told = positions.get(p, ())
            value = _committed(a, p, holdings, told, members, at_us, handled)
            furthest = handled(p, at_us)
            if value is not None:
                found[p] = value if furthest is None else min(value, furthest)
    return found


def _positions_of(a: Analysis, group: str) -> dict[Partition, list[ev.PositionFound]]:
    """Where the group's owners began to read, in order of time."""
    positions: dict[Partition, list[ev.PositionFound]] = {}
    for e in a.trace.events:
        if type(e) is ev.PositionFound and a.index.group_of.get(e.consumer, group) == group:
            positions.setdefault(e.partition, []).append(e)
    return positions


def _committed(
    a: Analysis,
    p: Partition,
    holdings: Sequence[Holding],
    told: Sequence[ev.PositionFound],
    members: Mapping[str, MemberLife],
    at_us: int,
    handled: Handled,
) -> int | None:
    """A partition's committed offset, by what was found committed before and after, and by the
    last commit of each owner until then.
    """
    value, last_us = None, NEVER
    for e in told:
        if e.at_us <= at_us and e.how == PositionFrom.COMMITTED:
            value, last_us = e.offset, e.at_us
    for h in (h for h in holdings if h.started_us <= at_us):
        instant = _last_commit(a, members[h.consumer].spans, h, min(h.ended_us, at_us))
        offset = handled(p, instant) if instant >= max(h.started_us, last_us + 1) else None
        if offset is not None:
            value, last_us = offset, instant
    following = next((e for e in told if e.at_us > at_us), None)
    if following is None:
        return value
    if following.how != PositionFrom.COMMITTED:
        return None  # who found nothing committed tells that nobody had
    return _bounded(a, holdings, value, following, members, at_us)


def _bounded(
    a: Analysis,
    holdings: Sequence[Holding],
    value: int | None,
    following: ev.PositionFound,
    members: Mapping[str, MemberLife],
    at_us: int,
) -> int:
    """Where the next owner began is what had been committed by then: never less than now, and
    just that where nobody could commit in between.
    """
    for h in holdings:
        until = min(h.ended_us, following.at_us)
        if until > at_us and _last_commit(a, members[h.consumer].spans, h, until) > at_us:
            return following.offset if value is None else min(value, following.offset)
    return following.offset


def _last_commit(a: Analysis, spans: Sequence[Span], h: Holding, until_us: int) -> int:
    """The last instant up to `until_us` at which the holder committed; −1 if there is none."""
    facts = a.header.consumers.get(h.consumer, ConsumerFacts(""))
    told = _told(a, h.consumer, until_us, facts)
    if facts.is_auto_commit:
        return max(
            told, _ticked(spans, _assigned(a, h.consumer, until_us), interval_of(facts), until_us)
        )
    if facts.commit in ("", "none"):
        return told
    polled = [
        min(s.ended_us, until_us)
        for s in spans
        if s.what is Doing.POLLING and s.started_us <= until_us
    ]  # with each batch
    return max([told, *polled])


def interval_of(facts: ConsumerFacts) -> int:
    """The interval of automatic commits; Kafka's default where an older trace or a log does not
    say.
    """
    return (
        facts.auto_commit_us if facts.auto_commit_us > 0 else ClientConfig().auto_commit_interval_us
    )


def _told(a: Analysis, consumer: str, until_us: int, facts: ConsumerFacts) -> int:
    """The last commit that the trace tells; where requests are not told, an automatic one before
    partitions are given up.
    """
    numbers, refused = a.index.by_consumer.get(consumer, ()), False
    for place in range(a.index.first_at(numbers, until_us + 1) - 1, -1, -1):
        e = a.index.events[numbers[place]]
        kind = type(e)
        if kind is ev.CommitRefused:
            refused = True
        elif kind is ev.RequestSent and e.api == KafkaApi.OFFSET_COMMIT:
            if not refused:
                return int(e.at_us)
            refused = False
        elif (
            kind is ev.CallbackBegan
            and e.callback == Callback.REVOKED
            and facts.is_auto_commit
            and a.header.is_recorded
        ):
            return int(e.at_us)
    return NEVER


def _assigned(a: Analysis, consumer: str, until_us: int) -> list[int]:
    """When the consumer's onPartitionsAssigned had returned, nothing new in it or not."""
    numbers = a.index.by_consumer.get(consumer, ())
    ended = (a.index.events[n] for n in numbers[: a.index.first_at(numbers, until_us + 1)])
    return [
        e.at_us for e in ended if type(e) is ev.CallbackEnded and e.callback == Callback.ASSIGNED
    ]


def _ticked(spans: Sequence[Span], resets: Collection[int], every_us: int, until_us: int) -> int:
    """The last periodic commit: a poll makes it, once the interval is over."""
    due, last, before = NEVER, NEVER, ""
    for span in spans:
        if span.what is Doing.POLLING and span.started_us <= until_us:
            if due < 0 or before is Doing.STARTING:
                due = span.started_us + every_us
            end = min(span.ended_us, until_us)
            for since, until in pairwise(
                (span.started_us, *(at for at in resets if span.started_us < at < end), end)
            ):
                if since in resets:
                    due = since + every_us
                if until >= (first := max(due, since)):
                    last = first + (until - first) // every_us * every_us
                    due = last + every_us
        before = span.what
    return last
