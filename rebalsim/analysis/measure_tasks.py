"""Measures of Kafka Connect: its tasks' pauses and its workers' rounds. None where there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.selecting import Measure, clipped, fits, once, selected_rebalances
from rebalsim.analysis.values import Pause, Value
from rebalsim.domain.metrics import Selection


def task_pauses(a: Findings, s: Selection) -> Sequence[Pause]:
    """The pauses of tasks that a selection is about."""
    found: Sequence[Pause] = once(
        a, "task pauses", s, lambda: [p for p in a.task_pauses if fits(a, p, s)]
    )
    return found


def _of_connect(measured: Callable[[Findings, Selection], Value]) -> Measure:
    return lambda a, s: measured(a, s) if a.worker_groups else None


def _longest(a: Findings, s: Selection) -> Value:
    return max((p.length_us for p in task_pauses(a, s)), default=0)


def _most_at_once(a: Findings, s: Selection) -> Value:
    """How many tasks stood still at the same time, at most."""
    moments = sorted(
        (at, step) for p in task_pauses(a, s) for at, step in ((p.started_us, 1), (p.ended_us, -1))
    )
    most = now = 0
    for _, step in moments:
        now += step
        most = max(most, now)
    return most


def _rounds(a: Findings, s: Selection) -> Value:
    return sum(r.group in a.worker_groups for r in selected_rebalances(a, s))


MEASURES: dict[str, Measure] = {
    "longest_task_pause": _of_connect(_longest),
    "task_seconds": _of_connect(lambda a, s: sum(clipped(p, s) for p in task_pauses(a, s))),
    "tasks_touched": _of_connect(
        lambda a, s: len({(p.group, p.partition) for p in task_pauses(a, s)})
    ),
    "tasks_unassigned": _of_connect(_most_at_once),
    "worker_rebalances": _of_connect(_rounds),
}
