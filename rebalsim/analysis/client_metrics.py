"""Kafka's client metrics by their real names, per consumer, as a dashboard would have shown them
over the whole run (times in µs here).

rebalance-latency runs from the first JoinGroup since the last success to the SyncGroup answer
(consumer protocol: from RECONCILING on); a static return counts, the answer MEMBER_ID_REQUIRED
counts as a failure, callbacks and position look-ups are not in it: all as Kafka does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rebalsim.analysis.connect_phases import workers_of
from rebalsim.analysis.index import Index
from rebalsim.analysis.lag import LagBook, peak_within
from rebalsim.analysis.ownership import Holdings
from rebalsim.analysis.values import Holding
from rebalsim.analysis.worker_metrics import worker_values
from rebalsim.domain.callback import Callback
from rebalsim.domain.holding_end import HoldingEnd
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.kafka_states import KafkaClientState
from rebalsim.trace import events as ev
from rebalsim.trace.trace import TraceHeader

Values = dict[str, float | None]
HOUR = 3_600_000_000


class _Clock:
    """What one consumer's metrics are computed from."""

    def __init__(self) -> None:
        self.started_us = -1
        self.first_join = self.join = self.sync = self.reconciling = -1
        self.latencies: list[int] = []
        self.joins: list[int] = []
        self.syncs: list[int] = []
        self.last_us = -1
        self.failed = 0
        self.answers = 0
        self.complaints = 0
        self.entered: tuple[str, int] = ("", -1)
        self.callbacks: dict[str, list[int]] = {
            Callback.REVOKED: [],
            Callback.ASSIGNED: [],
            Callback.LOST: [],
        }
        self.stuck_since = -1
        self.stuck: list[int] = []


def find_client_metrics(
    index: Index, header: TraceHeader, holdings: Holdings, lag: LagBook
) -> dict[str, Values]:
    """Consumer → metric → value; None where the trace cannot tell. Consumers by name, metrics in
    Kafka's order.
    """
    held: dict[str, list[tuple[Partition, Holding]]] = {}
    for (_, p), found in holdings.items():
        for h in found:
            held.setdefault(h.consumer, []).append((p, h))
    workers = workers_of(header)
    return {
        name: _of_worker(name, index, held.get(name, []))
        if name in workers
        else _values(name, _clock(name, index), index, header, held.get(name, []), lag)
        for name in sorted(index.by_consumer)
    }


def _of_worker(name: str, index: Index, held: Sequence[tuple[Partition, Holding]]) -> Values:
    """A Connect worker has a consumer's metrics of joining, and some of its own."""
    tasks = float(
        sum(1 for _, h in held if h.ended_us >= index.horizon_us and h.how is HoldingEnd.HELD)
    )
    return {**_of_joining(_clock(name, index), index), **worker_values(name, index, tasks)}


def _clock(name: str, index: Index) -> _Clock:
    clock = _Clock()
    for n in index.by_consumer[name]:
        e = index.events[n]
        if (told := _TOLD.get(type(e))) is not None:
            told(clock, e)
    return clock


def _started(c: _Clock, e: ev.ConsumerStarted) -> None:
    c.started_us = e.at_us if c.started_us < 0 else c.started_us
    c.first_join = c.join = c.sync = c.reconciling = c.stuck_since = -1


def _sent(c: _Clock, e: ev.RequestSent) -> None:
    if e.api == KafkaApi.JOIN:
        c.join = e.at_us
        if c.first_join < 0:
            c.first_join = e.at_us
    elif e.api == KafkaApi.SYNC:
        c.sync = e.at_us


def _answered(c: _Clock, e: ev.ResponseReceived) -> None:
    if e.api in (KafkaApi.JOIN, KafkaApi.SYNC):
        c.answers += 1
        c.failed += bool(e.error)


def _rejoin(c: _Clock, e: ev.RejoinRequested) -> None:
    c.complaints += e.reason.startswith(
        ("need to re-join with the given member-id", "rebalance failed")
    )


def _joined(c: _Clock, e: ev.GenerationJoined) -> None:
    if c.join >= 0:
        c.joins.append(e.at_us - c.join)


def _received(c: _Clock, e: ev.AssignmentReceived) -> None:
    if c.first_join >= 0:
        c.latencies.append(e.at_us - c.first_join)
        c.last_us = e.at_us
        c.first_join = -1
    if c.sync >= 0:
        c.syncs.append(e.at_us - c.sync)
        c.sync = -1


def _state(c: _Clock, e: ev.MemberStateChanged) -> None:
    if not e.is_of_client:
        return
    if e.after == KafkaClientState.RECONCILING and e.before != KafkaClientState.RECONCILING:
        c.reconciling = e.at_us
    elif (
        e.before == KafkaClientState.RECONCILING
        and e.after in (KafkaClientState.ACKNOWLEDGING, KafkaClientState.STABLE)
        and c.reconciling >= 0
    ):
        c.latencies.append(e.at_us - c.reconciling)
        c.last_us = e.at_us
        c.reconciling = -1


def _entered(c: _Clock, e: ev.CallbackBegan) -> None:
    c.entered = (e.callback, e.at_us)


def _left(c: _Clock, e: ev.CallbackEnded) -> None:
    if c.entered[0] == e.callback and not e.error:
        c.callbacks[e.callback].append(e.at_us - c.entered[1])


def _stuck(c: _Clock, e: ev.HandlerStuck) -> None:
    c.stuck_since = e.at_us


def _returned(c: _Clock, e: ev.HandlerReturned | ev.ConsumerExited) -> None:
    """A process that ends is not between two polls any more."""
    if c.stuck_since >= 0:
        c.stuck.append(e.at_us - c.stuck_since)
    c.stuck_since = -1


_TOLD: dict[type, Callable[[_Clock, Any], None]] = {
    ev.ConsumerStarted: _started,
    ev.RequestSent: _sent,
    ev.ResponseReceived: _answered,
    ev.RejoinRequested: _rejoin,
    ev.GenerationJoined: _joined,
    ev.AssignmentReceived: _received,
    ev.MemberStateChanged: _state,
    ev.CallbackBegan: _entered,
    ev.CallbackEnded: _left,
    ev.HandlerStuck: _stuck,
    ev.HandlerReturned: _returned,
    ev.ConsumerExited: _returned,
}


def _values(
    name: str,
    c: _Clock,
    index: Index,
    header: TraceHeader,
    held: Sequence[tuple[Partition, Holding]],
    lag: LagBook,
) -> Values:
    horizon = index.horizon_us
    values = _of_joining(c, index)
    for callback in (Callback.REVOKED, Callback.ASSIGNED, Callback.LOST):
        values[f"partition-{callback}-latency-avg"] = _mean(c.callbacks[callback])
        values[f"partition-{callback}-latency-max"] = _most(c.callbacks[callback])
    values["assigned-partitions"] = float(
        sum(1 for _, h in held if h.ended_us >= horizon and h.how is HoldingEnd.HELD)
    )
    group = index.group_of.get(name, "")
    peaks = [
        peak_within(corners, h.started_us, h.ended_us)
        for p, h in held
        if (corners := lag.corners.get((group, p)))
    ]
    values["records-lag-max"] = max(peaks, default=None)
    values["poll-idle-ratio-avg"] = _idle(name, c, horizon, header, held, lag)
    stuck = [*c.stuck, *([horizon - c.stuck_since] if c.stuck_since >= 0 else [])]
    facts = header.consumers.get(name)
    values["time-between-poll-max"] = (
        float(max(stuck))
        if stuck
        else float(facts.poll_timeout_us)
        if facts and facts.poll_timeout_us >= 0
        else None
    )
    return values


def _of_joining(c: _Clock, index: Index) -> Values:
    horizon = index.horizon_us
    hours = max(horizon - max(c.started_us, 0), 1) / HOUR
    failed = c.failed if c.answers else c.complaints
    return {
        "rebalance-latency-avg": _mean(c.latencies),
        "rebalance-latency-max": _most(c.latencies),
        "rebalance-latency-total": float(sum(c.latencies)),
        "rebalance-total": float(len(c.latencies)),
        "rebalance-rate-per-hour": len(c.latencies) / hours,
        "failed-rebalance-total": float(failed),
        "failed-rebalance-rate-per-hour": failed / hours,
        "last-rebalance-seconds-ago": float((horizon - c.last_us) // 1_000_000 * 1_000_000)
        if c.last_us >= 0
        else None,
        "join-time-avg": _mean(c.joins),
        "join-time-max": _most(c.joins),
        "join-total": float(len(c.joins)),
        "sync-time-avg": _mean(c.syncs),
        "sync-time-max": _most(c.syncs),
        "sync-total": float(len(c.syncs)),
    }


def _mean(values: Sequence[int]) -> float | None:
    return sum(values) / len(values) if values else None


def _most(values: Sequence[int]) -> float | None:
    return float(max(values)) if values else None


def _idle(
    name: str,
    c: _Clock,
    horizon: int,
    header: TraceHeader,
    held: Sequence[tuple[Partition, Holding]],
    lag: LagBook,
) -> float | None:
    """Share of its time that the application spent inside poll(): what its records cost it was
    elsewhere.
    """
    facts = header.consumers.get(name)
    if facts is None or facts.per_record_us < 0 or c.started_us < 0:
        return None
    busy = float(sum(c.stuck))
    for p, h in held:
        arrivals = lag.arrivals_of(p)
        if arrivals is None:
            return None
        busy += (arrivals.count(h.ended_us) - arrivals.count(h.started_us)) * facts.per_record_us
    return min(1.0, max(0.0, 1 - busy / max(horizon - c.started_us, 1)))
