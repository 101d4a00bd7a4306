"""Whether a longer horizon could still change what a budget's metric came to, and why.

Metrics move in three ways. Some only grow, by what happens (a longest pause, a count). Some fall,
too, when more happens (percentiles, means). Some move by the mere passing of time (a rate per
hour falls, the time that processes existed grows). Hence the table below; what was under way is
`pending`'s to say. A window that ends before the horizon closes everything but what lasts beyond it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.lag_trends import grows_beneath, rising, usual, waiting
from rebalsim.analysis.measure import measure
from rebalsim.analysis.measure_streams import has_copies_behind, not_running
from rebalsim.analysis.measure_tasks import task_pauses
from rebalsim.analysis.pending import pending_of, read_nothing_yet, unread_end
from rebalsim.analysis.redrawing import is_within_redrawing, redrawn_by
from rebalsim.analysis.selecting import (
    OF_WHOLE_PAUSES,
    selected_disturbances,
    selected_keys,
    selected_pauses,
)
from rebalsim.analysis.values import Pause
from rebalsim.domain.ids import Partition
from rebalsim.domain.instants import MINUTE, SECOND
from rebalsim.domain.metrics import EVERYTHING, PHASES, Selection
from rebalsim.domain.open_end import OpenEnd, OpenEndKind
from rebalsim.domain.pause_start import PauseStart
from rebalsim.trace import events as ev

AT_MOST, AT_LEAST = ("<=", "<"), (">=", ">")

# Once so much, always so much: what is at least that stays so. Not ages: records that wait at the
# end look handled as far as a line of lag runs there.
_ONLY_GROWS = {
    "longest_pause",
    "partition_seconds",
    "partitions_touched",
    "pauses",
    "rebalances",
    "disturbances",
    "generations",
    "settle_time",
    "members_removed",
    "poll_expirations",
    "fenced_members",
    "member_seconds",
    "duplicates",
    "skipped",
    "rebalance_latency_max",
    "rebalance_latency_total",
    "rebalance_total",
    "failed_rebalance_total",
    "join_time_max",
    "join_total",
    "sync_time_max",
    "sync_total",
    "partition_revoked_latency_max",
    "partition_assigned_latency_max",
    "partition_lost_latency_max",
}
# What time alone moves, in a group in which nothing happens.
_GROWS_WITH_TIME = (
    "member_seconds",
    "last_rebalance_seconds_ago",
    "time_since_last_rebalance_ms",
    "poll_idle_ratio_avg",
)
_FALLS_WITH_TIME = (
    "rebalances_per_hour",
    "rebalancing_share",
    "rebalance_rate_per_hour",
    "failed_rebalance_rate_per_hour",
    "record_age_p99",
    "poll_idle_ratio_avg",
)
_OF_DISTURBANCES = ("settle_time", "disturbances")
_COUNTED = ("partition_seconds", "partitions_touched", "pauses")
_OF_LAG = ("lag_peak", "lag_peak_partition", "lag_at_end", "records_lag_max")
_OF_AGES = ("record_age_p99", "record_age_max")
_LASTS = (
    *OF_WHOLE_PAUSES,
    *(f"pause_{p.replace('-', '_')}" for p in PHASES),
    "time_to_catch_up",
)
_OF_WHOLE_DISTURBANCES = (
    "settle_time",
    "disturbances",
    "moved_partitions",
    "least_moves",
    "moved_over_least",
    "longest_rebalance",
)
_OF_COPIES = ("longest_without_warm_standby", "standby_catch_up")
_OF_STATES = ("not_running_time", "longest_not_running")
_OF_TASKS = ("longest_task_pause", "task_seconds")
_COUNTS_TASKS = ("tasks_touched", "tasks_unassigned")
_STILL_OPEN = {"open_pauses": OpenEndKind.OPEN_PAUSES, "unsettled": OpenEndKind.UNSETTLED}
NEAR_REST = 0.25  # how far a peak among quiet batches may still rise


def _may_shrink(a: Findings, metric: str, s: Selection) -> Iterator[OpenEnd]:
    """Which of the open ones were pauses at all is known when they have ended."""
    if metric in _OF_DISTURBANCES:
        yield from _unsettled(a, s)
    elif metric == "longest_pause":
        yield from _pauses(a, s, _may_be_shorter)
    elif metric in _COUNTED:
        yield from _pauses(a, s)


def why_open(
    a: Findings, metric: str, op: str, s: Selection, room: float | None = None
) -> tuple[OpenEnd, ...]:
    """What could still turn `metric op limit` from kept to broken, empty: nothing.
    `room` is how far the value is from the limit, where that is known beforehand.
    """
    if op in AT_LEAST and metric in _ONLY_GROWS:
        return tuple(_may_shrink(a, metric, s))
    if s.until_us is not None and s.until_us <= a.horizon_us:
        return tuple(_beyond_window(a, metric, op, s, room))
    found = [*_pauses(a, s), *_whats_under_way(a, s), *_of_records(a, metric, s)]
    if (op not in AT_LEAST and metric in _GROWS_WITH_TIME) or (
        op not in AT_MOST and metric in _FALLS_WITH_TIME
    ):
        found.append(OpenEnd(OpenEndKind.TIME_MOVES_IT))
    if metric == "time_between_poll_max" and op not in AT_LEAST:
        found += _between_polls(a, s)
    if op not in AT_LEAST:
        found += _of_stretches(a, metric, s)
    if not found and (
        _is_within_sway(a, metric, s, room) or is_within_redrawing(a, metric, s, room)
    ):
        found.append(OpenEnd(OpenEndKind.LAG_SWAYS))
    return tuple(dict.fromkeys(found))


def sway_of(a: Findings, metric: str, s: Selection) -> float:
    """How far a figure of lag or ages may move while nothing happens, either way; nothing of others."""
    is_over = s.until_us is not None and s.until_us <= a.horizon_us
    return max(0.0, redrawn_by(a, metric, s), -1.0 if is_over else _sways_by(a, metric, s))


def _is_within_sway(a: Findings, metric: str, s: Selection, room: float | None) -> bool:
    return room is not None and abs(room) <= _sways_by(a, metric, s)


def _sways_by(a: Findings, metric: str, s: Selection) -> float:
    """What waits and how old it is sways from batch to batch: up to a second's arrivals are on
    their way at any time. Negative where that is no matter.
    """
    if metric not in (*_OF_LAG, *_OF_AGES):
        return -1.0
    usually = [usual(a, key) for key in selected_keys(a, s)]
    if metric == "lag_at_end":
        return _lag_sway(a, s, usually)
    highest = measure(a, metric, s) or 0.0
    if highest > _of_a_second(metric, usually):
        return -1.0  # a pile that came from a pause: what sways is far below it
    # a group that has run quietly for long has shown how far its batches sway, as far as is asked
    seen_us = min(_rested_us(a), a.horizon_us - (s.from_us or 0))
    share = NEAR_REST if seen_us >= MINUTE else 1.0
    return max(share * highest, _least_step(metric, usually))


def _lag_sway(a: Findings, s: Selection, usually: Sequence[float]) -> float:
    """By how much lag may differ from one instant to the next: as it did in the last minute, if
    nothing disturbed it, and else by a second's arrivals. What was told last before that minute
    counts: the end may be all that was told in it.
    """
    if _rested_us(a) < MINUTE:
        return sum(usually)
    told = a.lag_book.total(selected_keys(a, s))
    first = bisect_left(told, a.horizon_us - MINUTE, key=lambda corner: corner[0])
    lags = [lag for _, lag in told[max(0, first - 1) :]]
    swayed = max(lags, default=0.0) - min(lags, default=0.0)
    return min(sum(usually), (1 + NEAR_REST) * swayed + len(usually))


def _of_a_second(metric: str, usually: Sequence[float]) -> float:
    """What the metric comes to where no more waits than a second brings."""
    if metric in _OF_AGES:
        return 2 * SECOND
    return sum(usually) if metric == "lag_peak" else max(usually, default=0.0)


def _least_step(metric: str, usually: Sequence[float]) -> float:
    """How far the metric moves at least: a record a partition, or the time by which one batch may
    come later than another.
    """
    return SECOND / 100 if metric in _OF_AGES else len(usually)


def _rested_us(a: Findings) -> int:
    """For how long nothing had disturbed any group when observation ended."""
    ends = [a.horizon_us if d.is_open else d.ended_us for d in a.disturbances]
    world = a.index.world
    last = a.index.events[world[-1]].at_us if world else 0
    return a.horizon_us - max([last, *ends])


def under_way(a: Findings, s: Selection = EVERYTHING) -> tuple[OpenEnd, ...]:
    """What was under way at the end, whatever is asked: pauses, and what sets more of them off."""
    return tuple(dict.fromkeys([*_pauses(a, s), *_whats_under_way(a, s, with_again=False)]))


def _beyond_window(
    a: Findings, metric: str, op: str, s: Selection, room: float | None
) -> list[OpenEnd]:
    """What can still change of a window that is over: what lasts beyond it, and what is known of
    it only later.
    """
    if metric in _STILL_OPEN:
        count = int(measure(a, metric, s) or 0)
        falls = count > 0 and op not in AT_MOST
        return [OpenEnd(_STILL_OPEN[metric], count=count)] if falls else []
    # whose an open pause or disturbance is, and what it comes to, is known when it has ended
    whole = replace(s, members=(), action="")
    if metric in _OF_WHOLE_DISTURBANCES:
        return _unsettled(a, whole)
    is_narrowed = s.members or s.action
    found = [*_pauses(a, whole), *_unread(a, whole)] if _lasts(metric) or is_narrowed else []
    found += _of_records(a, metric, s) if metric == "time_to_catch_up" else []
    if metric == "longest_task_pause" or (is_narrowed and metric in (*_OF_TASKS, *_COUNTS_TASKS)):
        found += _open_tasks(a, s)
    if not found and is_within_redrawing(a, metric, s, room):
        found.append(OpenEnd(OpenEndKind.LAG_SWAYS))
    return found


def _lasts(metric: str) -> bool:
    """Whether a pause that began in a window counts whole, whatever of it lies beyond; so does the
    restoration that it waits for, which is told when it is over.
    """
    return metric in _LASTS or metric.startswith(("partition_seconds_", "restore"))


def _unsettled(a: Findings, s: Selection) -> list[OpenEnd]:
    """Where a disturbance ends, and which others belong to it, is known when it has ended."""
    is_open = any(d.is_open for d in selected_disturbances(a, s))
    return [OpenEnd(OpenEndKind.UNSETTLED)] if is_open else []


def _may_be_shorter(p: Pause) -> bool:
    """Whether its owner may have been ready since long and have had nothing to read: then it
    ended when the owner was.
    """
    return bool(p.path) or p.why in (PauseStart.FROZE, PauseStart.STUCK, PauseStart.CUT)


def _pauses(
    a: Findings, s: Selection, which: Callable[[Pause], bool] = lambda p: True
) -> list[OpenEnd]:
    count = sum(1 for p in selected_pauses(a, s) if p.is_open and which(p))
    if s.members:
        count += sum(p.is_open and which(p) for p in _given_to(a, s))
    return [OpenEnd(OpenEndKind.OPEN_PAUSES, count=count)] if count else []


def _unread(a: Findings, s: Selection) -> list[OpenEnd]:
    """Pauses that may turn out to have lasted longer."""
    asked = {(p.partition, p.start_event) for p in selected_pauses(a, s)}
    unread = [p for p in read_nothing_yet(a) if (p.partition, p.start_event) in asked]
    return [unread_end(p) for p in unread[:1]]


def _given_to(a: Findings, s: Selection) -> list[Pause]:
    """Others' pauses in partitions that these members were given since, and do not read yet (their store
    is being restored): theirs, as it seems.
    """
    given: dict[Partition, int] = {}
    for member in s.members:
        last = a.index.last_of(member, a.horizon_us, ev.AssignmentReceived)
        if last >= 0:
            event = a.index.events[last]
            given.update(dict.fromkeys(event.partitions, event.at_us))
    others = selected_pauses(a, replace(s, members=())) if given else ()
    return [
        p
        for p in others
        if p.owner_before not in s.members and given.get(p.partition, -1) >= p.started_us
    ]


def _whats_under_way(a: Findings, s: Selection, with_again: bool = True) -> list[OpenEnd]:
    groups = groups_of(a, s)
    return [
        p.end
        for p in pending_of(a)
        if (not p.group or p.group in groups)
        and (not s.action or not p.action or p.action == s.action)
        and (with_again or not p.is_again)
    ]


def _of_stretches(a: Findings, metric: str, s: Selection) -> list[OpenEnd]:
    """What goes on being so at the end: copies behind, instances that do not run, tasks that stand
    still.
    """
    if metric in _OF_COPIES and has_copies_behind(a):
        return [OpenEnd(OpenEndKind.COPIES_BEHIND)]
    if metric in _OF_STATES and any(ended >= a.horizon_us for _, ended in not_running(a)):
        return [OpenEnd(OpenEndKind.NOT_RUNNING)]
    return _open_tasks(a, s) if metric in _OF_TASKS else []


def _open_tasks(a: Findings, s: Selection) -> list[OpenEnd]:
    """Tasks that stood still at the end: whose they will be is not known yet."""
    whole = replace(s, members=(), action="")
    count = sum(1 for p in task_pauses(a, whole) if p.is_open)
    return [OpenEnd(OpenEndKind.OPEN_PAUSES, count=count)] if count else []


def _between_polls(a: Findings, s: Selection) -> list[OpenEnd]:
    """Whose handler had not returned: frozen meanwhile, or long out of its group, it goes on being
    between two polls.
    """
    ends = (ev.HandlerReturned, ev.ConsumerExited, ev.ConsumerStarted)
    found = []
    for name in s.members or sorted(a.index.by_consumer):
        stuck = a.index.last_of(name, a.horizon_us, ev.HandlerStuck)
        if stuck > a.index.last_of(name, a.horizon_us, *ends):
            found.append(OpenEnd(OpenEndKind.BETWEEN_TWO_POLLS, name))
    return found


def groups_of(a: Findings, s: Selection) -> Sequence[str]:
    """The groups that a selection is about."""
    if s.members:
        return [a.index.group_of.get(m, "") for m in s.members]
    if s.group:
        return [s.group]
    return [g for g, _ in selected_keys(a, s)] if s.topics else a.groups


def _grows(a: Findings, keys: list[tuple[str, Partition]]) -> bool:
    """Whether more comes than is handled, in the last minute or since the group was at rest."""
    return grows_beneath(a, keys, a.horizon_us - min(MINUTE, _rested_us(a)))


def _lag_moves(a: Findings, metric: str, keys: list[tuple[str, Partition]]) -> bool:
    if _grows(a, keys):
        return True
    if metric == "lag_at_end":
        return bool(waiting(a, keys))
    if metric == "lag_peak":
        return rising(a, keys)
    return any(rising(a, [key]) for key in waiting(a, keys))


def _of_records(a: Findings, metric: str, s: Selection) -> list[OpenEnd]:
    if metric in _OF_LAG:
        return (
            [OpenEnd(OpenEndKind.LAG_NOT_DOWN)]
            if _lag_moves(a, metric, selected_keys(a, s))
            else []
        )
    if metric in _OF_AGES:
        keys = selected_keys(a, s)
        is_late = bool(waiting(a, keys)) or _grows(a, keys)
        return [OpenEnd(OpenEndKind.OLD_RECORDS_WAIT)] if is_late else []
    if metric == "time_to_catch_up":
        behind = any(a.lag_book.is_behind(p) for p in selected_pauses(a, s))
        return [OpenEnd(OpenEndKind.LAG_NOT_CAUGHT_UP)] if behind else []
    return []
