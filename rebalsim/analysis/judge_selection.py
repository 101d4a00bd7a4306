"""What a budget may be narrowed to: which selectors a metric heeds, when a selection matches
nothing, and what could still grow.

A selector that a metric ignores, or that matches nothing, would be a budget that cannot fail.
Both are told as problems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalsim.analysis.selecting import OF_WHOLE_PAUSES, selected_disturbances, selected_pauses
from rebalsim.domain.budget import Budget
from rebalsim.domain.doing import Doing
from rebalsim.domain.metrics import EVERYTHING, METRICS, Selection
from rebalsim.trace import events as ev
from rebalsim.words.lists import joined
from rebalsim.words.times import say_duration

if TYPE_CHECKING:
    from rebalsim.analysis.analysis import Analysis

OF_A_GROUP = (
    "rebalances",
    "disturbances",
    "moved_partitions",
    "least_moves",
    "moved_over_least",
    "settle_time",
    "unsettled",
    "longest_rebalance",
    "rebalances_per_hour",
)
_SELECTORS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(OF_A_GROUP, ("members", "window", "action")),
    "generations": ("window",),
    "first_settle_time": (),
    "rebalancing_share": ("window",),
    **dict.fromkeys(
        ("members_removed", "poll_expirations", "fenced_members", "member_seconds"), ("members",)
    ),
    **dict.fromkeys(("lag_peak", "lag_peak_partition"), ("topics", "members", "window")),
    "lag_at_end": ("topics", "members", "until"),
    **dict.fromkeys(("record_age_p99", "record_age_max"), ("topics", "members")),
    **dict.fromkeys(("scalings", "oscillates"), ("window", "action")),
    "worker_rebalances": ("members", "window", "action"),
    **dict.fromkeys(
        (
            "restored_bytes",
            "restore_time",
            "restore_time_from_scratch",
            "restore_time_from_checkpoint",
            "restore_time_from_standby",
            "standby_lag",
            "standby_catch_up",
        ),
        ("members", "window"),
    ),
    **dict.fromkeys(
        (
            "tasks_without_warm_standby",
            "longest_without_warm_standby",
            "not_running_time",
            "longest_not_running",
        ),
        ("window",),
    ),
}
_ALL = ("topics", "members", "window", "action")
_WHOLE = (*OF_WHOLE_PAUSES, "settle_time")


def selectors_of(metric: str) -> tuple[str, ...]:
    """The selectors that make a difference to a metric: topics, members, window (or only its
    end, until), action.
    """
    return ("members",) if METRICS[metric].kafka_name else _SELECTORS.get(metric, _ALL)


def in_this_run(a: Analysis, at_us: int | None) -> int | None:
    """A moment that the file names, in this run: it goes with the script, which seeds may play
    later than written; runs that are played last until then. The start stays the start.
    """
    return at_us + a.header.shift_us if at_us else at_us


def selection_of(a: Analysis, budget: Budget) -> Selection:
    """The part of a run that the budget is about."""
    made = Selection(
        budget.topics,
        budget.members,
        in_this_run(a, budget.from_us),
        in_this_run(a, budget.until_us),
        budget.action,
    )
    return EVERYTHING if made.is_all else made


def why_not_judged(a: Analysis, budget: Budget) -> str:
    """What is wrong with the budget's selection in this run; empty if nothing."""
    usable = selectors_of(budget.metric)
    until = ("window", "until")
    asked = (
        ("topics", ("topics",), bool(budget.topics)),
        ("members", ("members",), bool(budget.members)),
        ("action", ("action",), bool(budget.action)),
        ("from", ("window",), budget.from_us is not None),
        ("until", until, budget.until_us is not None),
    )
    ignored = [name for name, by, is_asked in asked if is_asked and not set(by) & set(usable)]
    if ignored:
        instead = f"it can be narrowed by {joined(usable)}" if usable else "it is of the whole run"
        return (
            f"{budget.metric} cannot be narrowed by {joined(ignored)}: {instead} — take "
            f"{joined(ignored)} out, or another metric"
        )
    return _window(a, budget) or _topics(a, budget) or _members(a, budget) or _action(a, budget)


def _window(a: Analysis, budget: Budget) -> str:
    begin, end = budget.from_us, budget.until_us
    if begin is not None and end is not None and begin >= end:
        return (
            f"The window from {say_duration(begin)} until {say_duration(end)} is empty — put the "
            "earlier moment first"
        )
    beyond = [at for at in (begin,) if at is not None and at >= a.horizon_us]
    beyond += [at for at in (end,) if at is not None and at > a.horizon_us]
    if not beyond:
        return ""
    return (
        f"{say_duration(beyond[0])} is after the end: the story stops at "
        f"{say_duration(a.horizon_us)} — move it, or lengthen horizon:"
    )


def _topics(a: Analysis, budget: Budget) -> str:
    known = dict.fromkeys((*a.header.topics, *(p.topic for _, p in a.partitions)))
    for topic in budget.topics:
        if topic not in known:
            return (
                f"There is no topic {topic}, so a budget on it would never fail — there is "
                f"{joined(known) or 'none at all'}"
            )
    return ""


def _members(a: Analysis, budget: Budget) -> str:
    was_there = (
        [m.consumer for m in a.members if m.lives or any(s.what is not Doing.AWAY for s in m.spans)]
        if budget.members
        else []
    )
    for member in budget.members:
        if member not in was_there:
            return (
                f"The member '{member}' is never started in this variant, so a budget on it "
                f"would never fail — there is {joined(tuple(was_there)[:12])}"
            )
    return ""


def _action(a: Analysis, budget: Budget) -> str:
    if not budget.action:
        return ""
    done = dict.fromkeys(
        e.action
        for n in a.index.world
        if type(e := a.index.events[n]) is ev.ScriptActed and e.action
    )
    if budget.action in done:
        return ""
    return (
        f"The action '{budget.action}' never takes place within {say_duration(a.horizon_us)}, so "
        "a budget on it would never fail — "
        f"{'it comes too late, or what it waits for never happens' if done else 'nothing of the script does'}"
    )


def open_ends(a: Analysis, metric: str, s: Selection) -> tuple[int, bool]:
    """How many pauses of the selection had not ended at the horizon, and whether the group was
    unsettled then, where that could still change the value.
    """
    if (
        s.until_us is not None
        and s.until_us < a.horizon_us
        and metric not in _WHOLE
        and not metric.startswith("pause_")
    ):
        return 0, False
    pauses = sum(1 for p in selected_pauses(a, s) if p.is_open)
    if s.until_us is not None and s.until_us < a.horizon_us and metric != "settle_time":
        return pauses, False
    return pauses, any(
        d.is_open for d in (a.disturbances if s.is_all else selected_disturbances(a, s))
    )
