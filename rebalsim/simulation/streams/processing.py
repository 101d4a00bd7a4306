"""How a stream thread divides its time among its tasks: who keeps up with what comes, who is behind,
and when each has caught up. A fluid: between the moments at which that changes nothing is played.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.simulation.streams.changelogs import Progresses
from rebalsim.simulation.streams.port import NEVER, Port

NOTHING_LEFT = 1e-6  # of a record: what rounding leaves of a lag that was worked off
MOST_POLLED = 1_000  # max.poll.records within Kafka Streams


class Processing:
    """One thread's. `max_poll_us` bounds how long it processes between two polls; `other` is the share of
    its time that goes to other things. `outlasts` is told where it looks at the clock too late: it
    does so when a record of each task is through, and that one round takes longer than it may.
    """

    def __init__(
        self,
        port: Port,
        progresses: Progresses,
        max_poll_us: int,
        other: Callable[[], float],
        outlasts: Callable[[int], None],
    ) -> None:
        self._port, self._progresses, self._other = port, progresses, other
        self._outlasts = outlasts
        self._max_poll_us = max_poll_us
        self._most_us = max(1, max_poll_us // 2)
        self._tasks: dict[TaskId, None] = {}
        self._plans = 0  # a ring of an earlier plan is void
        self._behind_since = NEVER
        self._round_us = 0.0  # what a poll's records take where it is behind

    def take(self, task: TaskId) -> None:
        """The task's records come from now on."""
        if self._progresses.of(task).record_us:
            self._progresses.mark(task, self._port.now)
            self._tasks[task] = None
            self.plan()
        else:
            self._progresses.catch_up(task, self._port.now)

    def give_up(self, task: TaskId) -> None:
        """It runs here no more."""
        if self._tasks.pop(task, self) is None:
            self.plan()

    def plan(self, *, records_turn: bool = False) -> None:
        """Something changed: everybody's speed from now on. `records_turn`: records may come otherwise,
        so that the lag of whoever is behind turns even where its speed stays.
        """
        self._plans += 1
        now, book = self._port.now, self._progresses
        costs = {task: book.of(task).record_us for task in self._tasks}
        rates = {task: book.rate(task, now) / 1e6 for task in self._tasks}
        lags = {task: book.lag(task, now) for task in self._tasks}
        never = self._never_through(costs, lags)
        for task in never:
            del costs[task]
            book.go_on(task, now, 0.0)
        behind = {task: None for task in costs if lags[task] > NOTHING_LEFT}
        speed = _speed(costs, rates, behind, 1.0 - self._other())
        for task in costs:
            turns = book.go_on(task, now, speed if task in behind else None)
            if turns or (records_turn and task in behind):
                book.mark(task, now)
        self._keep_time(costs, behind)
        gains = [lags[task] / (speed - rates[task]) for task in behind if speed > rates[task]]
        due_us = min([now + ceil(gain) for gain in gains], default=NEVER)
        due_us = min([due_us, *(book.changes_after(task, now) for task in self._tasks)])
        lacking = [(1.0 - lags[task]) / rates[task] for task in never if rates[task] > 0]
        due_us = min([due_us, *(now + ceil(lack) for lack in lacking if lack > 0)])
        if due_us < NEVER:
            self._port.call(due_us, self._rung, self._plans)

    def _never_through(
        self, costs: Mapping[TaskId, float], lags: Mapping[TaskId, float]
    ) -> list[TaskId]:
        """Tasks whose records outlast max.poll.interval.ms: one alone, or one of each that waits. When
        the round is through the thread is no longer in its group, and nothing of it is committed.
        """
        most_us = self._max_poll_us
        if sum(costs.values()) <= most_us:
            return []
        if self._round(costs, lags) > most_us:
            self._port.call(self._port.now, self._begin_round, self._plans)
            return list(costs)
        return [task for task, cost in costs.items() if cost > most_us]

    def _round(self, costs: Mapping[TaskId, float], lags: Mapping[TaskId, float]) -> float:
        """How long a record of each task that has a whole one takes."""
        return sum(cost for task, cost in costs.items() if lags[task] >= 1.0 - NOTHING_LEFT)

    def _begin_round(self, plan: int) -> None:
        """The thread goes at it."""
        if plan == self._plans:
            book, now = self._progresses, self._port.now
            costs = {task: book.of(task).record_us for task in self._tasks}
            lags = {task: book.lag(task, now) for task in self._tasks}
            self._outlasts(int(self._round(costs, lags)))

    def _rung(self, plan: int) -> None:
        if plan == self._plans:
            self.plan(records_turn=True)

    def _keep_time(self, costs: Mapping[TaskId, float], behind: Mapping[TaskId, None]) -> None:
        if not behind:
            self._behind_since = NEVER
            return
        if self._behind_since == NEVER:
            self._behind_since = self._port.now
        self._round_us = MOST_POLLED * sum(costs[task] for task in behind) / len(behind)

    def busy_until(self) -> int:
        """While it is behind it polls only when what the last poll brought is through, or half of
        max.poll.interval.ms is over: when that is.
        """
        now = self._port.now
        if self._behind_since > now:
            return now
        lasts = max(1, min(int(self._round_us), self._most_us))
        return now + -(now - self._behind_since) % lasts


def _speed(
    costs: Mapping[TaskId, float],
    rates: Mapping[TaskId, float],
    behind: dict[TaskId, None],
    free: float,
) -> float:
    """Records a µs that each task gets which is behind: the thread goes round its tasks and takes as
    many of each. Whoever gets more in that time than is handled falls behind as well, and is added.
    """
    while True:
        kept_up = sum(rates[task] * costs[task] for task in costs if task not in behind)
        each = sum(costs[task] for task in behind)
        left = max(0.0, free - kept_up)
        if not behind and kept_up <= free:
            return 0.0
        speed = left / each if each else 0.0
        more = [task for task in costs if task not in behind and rates[task] > speed]
        if not more:
            return speed
        behind.update(dict.fromkeys(more))
