"""Measures of Kafka Streams: stores restored, copies that catch up, and the application's own state.
None where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.selecting import Measure, once
from rebalsim.analysis.values import Value
from rebalsim.domain.metrics import EVERYTHING, Selection
from rebalsim.trace.streams_events import (
    ApplicationStateChanged,
    StandbyBegan,
    StandbyCaughtUp,
    StandbyEnded,
    StoreRestored,
)

# states in which KafkaStreams answers no queries, or not of everything
NOT_RUNNING = ("REBALANCING", "PENDING_SHUTDOWN", "PENDING_ERROR", "ERROR")


def _of_streams(measured: Callable[[Findings, Selection], Value]) -> Measure:
    return lambda a, s: measured(a, s) if _is_streams(a) else None


def _is_streams(a: Findings) -> bool:
    found: bool = once(
        a,
        "is streams",
        EVERYTHING,
        lambda: any(type(e) is ApplicationStateChanged for e in a.trace.events),
    )
    return found


def _within(s: Selection, started_us: int, ended_us: int) -> int:
    """How much of it lies in the window."""
    from_us = started_us if s.from_us is None else max(started_us, s.from_us)
    until_us = ended_us if s.until_us is None else min(ended_us, s.until_us)
    return max(0, until_us - from_us)


def _restorations(a: Findings, s: Selection) -> Iterator[StoreRestored]:
    for e in a.trace.events:
        if type(e) is StoreRestored and (not s.members or e.consumer in s.members):
            yield e


def _restored_bytes(a: Findings, s: Selection) -> Value:
    return sum(e.bytes for e in _restorations(a, s) if _within(s, e.began_us, e.at_us) > 0)


def _restore_time(a: Findings, s: Selection) -> Value:
    return sum(_within(s, e.began_us, e.at_us) for e in _restorations(a, s))


def _stretches(a: Findings) -> Iterator[tuple[int, int]]:
    """Each instance's stretches without being RUNNING, while it was up, after its first one."""
    since: dict[str, int] = {}
    ran: set[str] = set()
    for e in a.trace.events:
        if type(e) is not ApplicationStateChanged:
            continue
        if e.instance in since:
            yield since.pop(e.instance), e.at_us
        if e.after in NOT_RUNNING and e.instance in ran:
            since[e.instance] = e.at_us
        if e.after == "RUNNING":
            ran.add(e.instance)
    for started_us in since.values():
        yield started_us, a.horizon_us


def _catch_up(a: Findings, s: Selection) -> Value:
    """A copy that is never caught up counts until it ended, or the story did."""
    began: dict[tuple[str, str], int] = {}
    longest = 0
    for e in a.trace.events:
        if type(e) is StandbyBegan:
            began[e.consumer, e.task] = e.at_us
        elif type(e) in (StandbyCaughtUp, StandbyEnded):
            started_us = began.pop((e.consumer, e.task), None)
            if started_us is not None and (not s.members or e.consumer in s.members):
                longest = max(longest, _within(s, started_us, e.at_us))
    left = [_within(s, at, a.horizon_us) for (who, _), at in began.items() if _is_of(s, who)]
    return max([longest, *left])


def _is_of(s: Selection, who: str) -> bool:
    return not s.members or who in s.members


MEASURES: dict[str, Measure] = {
    "restored_bytes": _of_streams(_restored_bytes),
    "restore_time": _of_streams(_restore_time),
    "standby_catch_up": _of_streams(_catch_up),
    "not_running_time": _of_streams(lambda a, s: sum(_within(s, *each) for each in _stretches(a))),
    "longest_not_running": _of_streams(
        lambda a, s: max((_within(s, *each) for each in _stretches(a)), default=0)
    ),
}
