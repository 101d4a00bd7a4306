"""A Connect worker's own metrics by their real names (connect-worker-rebalance-metrics and
connect-coordinator-metrics), as a dashboard would have shown them over the whole run; times in µs.

The clock of a rebalance runs from the moment its answer is taken over, after barrier, sync and the
stopping of what was revoked, to the end of "start work": neither waits for others nor slow stops
nor the scheduled delay are in it. A round that ends in another join without starting work is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rebalsim.analysis.index import Index
from rebalsim.domain.callback import Callback
from rebalsim.trace import events as ev
from rebalsim.trace.connect_events import ConnectorEnded, ConnectorStarted, WorkAssigned

Values = dict[str, float | None]


class _Rounds:
    """What one worker's metrics are computed from; a process that starts anew counts from zero."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.epoch = self.taken_us = self.last_us = -1
        self.took: list[int] = []
        self.connectors: set[str] = set()

    def ends(self, at_us: int) -> None:
        """The work that a round brought has been started."""
        if self.taken_us >= 0:
            self.took.append(at_us - self.taken_us)
            self.last_us, self.taken_us = at_us, -1


def _began(c: _Rounds, e: ev.ConsumerStarted) -> None:
    c.begin()


def _assigned(c: _Rounds, e: WorkAssigned) -> None:
    c.ends(c.taken_us)  # the last one started nothing that took any time
    c.epoch = e.generation
    c.taken_us = -1 if e.is_config_mismatch else e.at_us


def _stops(c: _Rounds, e: ev.CallbackBegan) -> None:
    """What is stopped once a round was taken over is restarted, or fails, without one: the round
    had nothing to start.
    """
    if e.callback != Callback.ASSIGNED:
        c.ends(c.taken_us)


def _started(c: _Rounds, e: ev.CallbackEnded) -> None:
    if e.callback == Callback.ASSIGNED:
        c.ends(e.at_us)


def _up(c: _Rounds, e: ConnectorStarted) -> None:
    c.connectors.add(e.connector)


def _down(c: _Rounds, e: ConnectorEnded) -> None:
    c.connectors.discard(e.connector)


_TOLD: dict[type, Callable[[_Rounds, Any], None]] = {
    ev.ConsumerStarted: _began,
    WorkAssigned: _assigned,
    ev.CallbackBegan: _stops,
    ev.CallbackEnded: _started,
    ConnectorStarted: _up,
    ConnectorEnded: _down,
}


def worker_values(name: str, index: Index, tasks: float) -> Values:
    """The worker's values; `tasks` is how many it holds in the end."""
    c = _Rounds()
    for n in index.by_consumer[name]:
        e = index.events[n]
        if (told := _TOLD.get(type(e))) is not None:
            told(c, e)
    c.ends(c.taken_us)
    return {
        "completed-rebalances-total": float(len(c.took)),
        "rebalance-avg-time-ms": sum(c.took) / len(c.took) if c.took else None,
        "rebalance-max-time-ms": float(max(c.took)) if c.took else None,
        "time-since-last-rebalance-ms": (
            float(index.horizon_us - c.last_us) if c.last_us >= 0 else None
        ),
        "epoch": float(c.epoch) if c.epoch >= 0 else None,
        "assigned-connectors": float(len(c.connectors)),
        "assigned-tasks": tasks,
    }
