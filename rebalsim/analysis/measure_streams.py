"""Measures of Kafka Streams: stores restored, copies that catch up, and the application's own state.
None where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.selecting import Measure, once
from rebalsim.analysis.standbys import cold_stretches
from rebalsim.analysis.values import Copy, Value
from rebalsim.domain.kafka_states import KafkaStreamsState
from rebalsim.domain.metrics import EVERYTHING, Selection
from rebalsim.domain.restored_from import RestoredFrom
from rebalsim.trace.streams_events import ApplicationStateChanged, StoreRestored

# states in which KafkaStreams answers no queries, or not of everything
NOT_RUNNING = (
    KafkaStreamsState.REBALANCING,
    KafkaStreamsState.PENDING_SHUTDOWN,
    KafkaStreamsState.PENDING_ERROR,
    KafkaStreamsState.ERROR,
)


def _of_streams(measured: Callable[[Findings, Selection], Value]) -> Measure:
    return lambda a, s: measured(a, s) if _is_streams(a) else None


def _is_streams(a: Findings) -> bool:
    found: bool = once(
        a,
        "is streams",
        EVERYTHING,
        lambda: any(type(e) is ApplicationStateChanged for e in a.told()),
    )
    return found


def _within(s: Selection, started_us: int, ended_us: int) -> int:
    """How much of it lies in the window."""
    from_us = started_us if s.from_us is None else max(started_us, s.from_us)
    until_us = ended_us if s.until_us is None else min(ended_us, s.until_us)
    return max(0, until_us - from_us)


def _restorations(a: Findings, s: Selection) -> Iterator[StoreRestored]:
    for e in a.told():
        if type(e) is StoreRestored and (not s.members or e.consumer in s.members):
            yield e


def _restored_bytes(a: Findings, s: Selection) -> Value:
    return sum(e.bytes for e in _restorations(a, s) if _within(s, e.began_us, e.at_us) > 0)


def _restore_time(a: Findings, s: Selection) -> Value:
    return sum(_within(s, e.began_us, e.at_us) for e in _restorations(a, s))


def not_running(a: Findings) -> Iterator[tuple[int, int]]:
    """Each instance's stretches without being RUNNING, while it was up, after its first one."""
    since: dict[str, int] = {}
    ran: set[str] = set()
    for e in a.told():
        if type(e) is not ApplicationStateChanged:
            continue
        if e.instance in since:
            yield since.pop(e.instance), e.at_us
        if e.after in NOT_RUNNING and e.instance in ran:
            since[e.instance] = e.at_us
        if e.after == KafkaStreamsState.RUNNING:
            ran.add(e.instance)
    for started_us in since.values():
        yield started_us, a.horizon_us


def _restore_time_from(how: str) -> Measure:
    """What restorations of this kind contribute to `restore_time`."""
    return _of_streams(
        lambda a, s: sum(
            _within(s, e.began_us, e.at_us) for e in _restorations(a, s) if e.how == how
        )
    )


def _copies(a: Findings, s: Selection) -> Iterator[Copy]:
    """Each standby once, however many inputs its task has."""
    seen = {id(copy): copy for copies in a.copies.values() for copy in copies}
    return (copy for copy in seen.values() if not s.members or copy.consumer in s.members)


def _catch_up(a: Findings, s: Selection) -> Value:
    """The longest catching up of a copy; one that never caught up counts until it, or the
    story, ended.
    """
    return max(
        (
            _within(s, copy.started_us, copy.ended_us if caught is None else caught)
            for copy in _copies(a, s)
            for caught in (copy.caught_up_us,)
        ),
        default=0,
    )


def _standby_lag(a: Findings, s: Selection) -> Value:
    inside = (c for c in _copies(a, s) if _within(s, c.started_us, c.started_us + 1) > 0)
    return max((copy.behind for copy in inside), default=0)


def _cold_tasks(a: Findings, s: Selection) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """When each group's task that ever had a warm standby had none, within the window."""
    tasks = {read: (read[0], copies[0].task) for read, copies in a.copies.items() if copies}
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for read, spans in cold_stretches(a.copies, a.horizon_us).items():
        found[tasks[read]] = [span for span in spans if _within(s, *span) > 0]
    return found


def has_copies_behind(a: Findings) -> bool:
    """Whether a task that had a warm copy has none at the end, or a copy is still behind."""
    cold = cold_stretches(a.copies, a.horizon_us).values()
    if any(ended >= a.horizon_us for spans in cold for _, ended in spans):
        return True
    copies = (copy for mine in a.copies.values() for copy in mine)
    return any(c.caught_up_us is None and c.ended_us >= a.horizon_us for c in copies)


def _most_without(a: Findings, s: Selection) -> Value:
    """The most tasks that were without a warm copy at the same time."""
    spans = [span for spans in _cold_tasks(a, s).values() for span in spans]
    return max((sum(b <= at < e for b, e in spans) for at, _ in spans), default=0)


def _longest_without(a: Findings, s: Selection) -> Value:
    spans = [span for spans in _cold_tasks(a, s).values() for span in spans]
    return max((_within(s, *span) for span in spans), default=0)


MEASURES: dict[str, Measure] = {
    "restored_bytes": _of_streams(_restored_bytes),
    "restore_time": _of_streams(_restore_time),
    "restore_time_from_scratch": _restore_time_from(RestoredFrom.SCRATCH),
    "restore_time_from_checkpoint": _restore_time_from(RestoredFrom.CHECKPOINT),
    "restore_time_from_standby": _restore_time_from(RestoredFrom.STANDBY),
    "standby_lag": _of_streams(_standby_lag),
    "tasks_without_warm_standby": _of_streams(_most_without),
    "longest_without_warm_standby": _of_streams(_longest_without),
    "standby_catch_up": _of_streams(_catch_up),
    "not_running_time": _of_streams(lambda a, s: sum(_within(s, *each) for each in not_running(a))),
    "longest_not_running": _of_streams(
        lambda a, s: max((_within(s, *each) for each in not_running(a)), default=0)
    ),
}
