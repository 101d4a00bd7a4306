"""What a replay predicts of a recording of Connect workers: rounds, what each worker starts and
stops, and every pause of a source's task or a sink's partition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rebalsim.domain.ids import Partition
from rebalsim.trace import events as ev
from rebalsim.trace.connect_events import (
    ConnectorEnded,
    ConnectorStarted,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarting,
    TaskStopping,
    WorkAssigned,
)
from rebalsim.trace.trace import Trace

TOLD_MS = 50  # shorter gaps are the ordinary spacing of polls and batches
WORK = {
    TaskStarting: "start",
    TaskStopping: "stop",
    ConnectorStarted: "start",
    ConnectorEnded: "stop",
}


def prediction_of(
    trace: Trace, sources: set[str], twins: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The prediction in the judge's form; the trace must hold every batch (wire). `twins`: later
    processes of a worker whose former one had not gone, by the names of their own.
    """
    finder = _Finder(trace, sources, twins or {})
    for event in trace.events:
        finder.take(event)
    finder.pauses.sort(key=lambda p: (p["start"], p["what"]))
    return {
        "generations": max((r["generation"] for r in finder.rounds.values()), default=0),
        "rounds": list(finder.rounds.values()),
        "work": finder.work,
        "pauses": finder.pauses,
    }


class _Finder:
    """One pass over a trace."""

    def __init__(self, trace: Trace, sources: set[str], twins: Mapping[str, str]) -> None:
        self.sources, self.twins = sources, twins
        self.workers = {name for name in trace.header.consumers if "@" not in name}
        self.rounds: dict[int, dict[str, Any]] = {}
        self.work: list[dict[str, Any]] = []
        self.pauses: list[dict[str, Any]] = []
        self.halted: dict[str, int] = {}  # a source's task → when its last copy stopped polling
        self.copies: dict[str, set[str]] = {}  # … and who polls it
        self.last: dict[Partition, int] = {}  # a sink's partition → its last batch
        self.paused: set[str] = set()  # sinks' consumers that are paused

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is ev.RecordsDelivered:
            self._delivered(event)
        elif kind is WorkAssigned:
            self.rounds.setdefault(
                event.generation,
                {
                    "generation": event.generation,
                    "delay": event.delay_us / 1000,
                    "t": event.at_us / 1000,
                },
            )
        elif kind in WORK:
            self._worked(event, WORK[kind])
        elif kind in (TaskPaused, TaskResumed, TaskFailed):
            self._toggled(event, kind)
        elif kind in (ev.ConsumerExited, ev.ConsumerFroze) and event.consumer in self.workers:
            for task in [t for t, who in self.copies.items() if event.consumer in who]:
                self._ends(task, event.consumer, event.at_us)

    def _worked(self, event: Any, how: str) -> None:
        what = getattr(event, "task", None) or event.connector
        worker = self.twins.get(event.consumer, event.consumer)
        self.work.append({"t": event.at_us / 1000, "worker": worker, "what": what, "kind": how})
        if how == "stop" and what in self.copies:
            polled = getattr(event, "polled_us", -1)
            self._ends(what, event.consumer, polled if polled >= 0 else event.at_us)

    def _ends(self, task: str, worker: str, at_us: int) -> None:
        """A copy of a source's task stops polling."""
        who = self.copies[task]
        if worker in who:
            who.remove(worker)
            if not who:
                self.halted[task] = at_us

    def _delivered(self, event: ev.RecordsDelivered) -> None:
        if event.consumer in self.workers:
            for p in event.batch:
                if p.topic in self.sources:
                    self._polls(str(p), event.consumer, event.at_us)
            return
        if event.consumer in self.paused:
            return
        for p in event.batch:
            before = self.last.get(p)
            if before is not None:
                self._gap(str(p), before, event.at_us)
            self.last[p] = event.at_us

    def _polls(self, task: str, worker: str, at_us: int) -> None:
        self.copies.setdefault(task, set()).add(worker)
        since = self.halted.pop(task, None)
        if since is not None:
            self._gap(task, since, at_us)

    def _gap(self, what: str, start_us: int, end_us: int) -> None:
        if end_us - start_us > TOLD_MS * 1000:
            self.pauses.append({"what": what, "start": start_us / 1000, "end": end_us / 1000})

    def _toggled(self, event: Any, kind: type) -> None:
        """Paused: a source's task polls no more; a sink's partitions are handed over to nobody."""
        connector = event.task.rpartition("-")[0]
        if connector in self.sources:
            if kind is not TaskResumed and event.task in self.copies:
                self._ends(event.task, event.consumer, event.at_us)
            return
        who = f"{event.task}@{event.consumer}"
        if kind is TaskPaused:
            self.paused.add(who)
        elif kind is TaskResumed:
            self.paused.discard(who)
