"""What happened in a Connect cluster behind what the groups saw: a worker that joined again because
a connector changed, a sink's consumer that came or went because its worker started or stopped
its task.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from rebalsim.analysis.connect_phases import (
    Window,
    coordinator_lost,
    delays_of,
    has_failed,
    workers_of,
)
from rebalsim.analysis.index import NOTHING, Index
from rebalsim.analysis.values import Disturbance, Pause
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.script import RestartConnector
from rebalsim.trace import events as ev
from rebalsim.trace.connect_events import TasksConfigured
from rebalsim.trace.trace import TraceHeader

# actions of the script by which a connector changes for all workers, and those for one's tasks
_OF_CLUSTER = ("CreateConnector", "DeleteConnector", "ReconfigureConnector", "TargetConnector")
_OF_ITS_TASKS = ("RestartConnector", "FailTask")
_OF_BROKERS = ("BrokerRestart", "BrokerUpgrade", "CoordinatorFailover")
OF_TASKS = (CauseKind.TASK_STARTED, CauseKind.TASK_STOPPED)
OF_CONNECTORS = (CauseKind.CONNECTOR_CHANGED, CauseKind.CONNECTOR_RESTARTED)
OF_ALL_WORKERS = (*OF_TASKS, CauseKind.COORDINATOR_LOST)
OF_CLUSTERS = (*OF_CONNECTORS, *OF_TASKS)
SOON_US = 1_000_000  # workers want to join within moments of the config record that makes them
Told = tuple[CauseKind, str, int]  # what it was, whose, and when it began


class ClusterCauses:
    """The clusters of one trace; nothing where it has none."""

    def __init__(self, index: Index, header: TraceHeader) -> None:
        self.index = index
        self.header = header
        self.workers = workers_of(header)
        self._turns: dict[str, list[tuple[int, bool]]] = {}  # worker → when it began and ended
        self._known: dict[Told, Told] = {}
        self._delays: dict[str, list[Window]] = {}  # by group; empty: not looked for
        self._disturbed: dict[str, list[Disturbance]] = {}
        self.deeds: list[int] = []  # what the script did to connectors
        self.changes: list[tuple[int, str]] = []  # when which connector changed
        if self.workers:
            self._note_deeds()

    def _note_deeds(self) -> None:
        """What the script did to connectors, and when one was changed by it or its own tasks."""
        events = self.index.events
        for n in self.index.world:
            e = events[n]
            if type(e) is ev.ScriptActed and e.kind in (*_OF_CLUSTER, *_OF_ITS_TASKS):
                self.deeds.append(n)
                if e.kind in _OF_CLUSTER:
                    self.changes.append((e.at_us, e.targets[0]))
        self.changes += [(e.at_us, e.connector) for e in events if type(e) is TasksConfigured]
        self.changes.sort()

    def worker_of(self, consumer: str) -> str:
        """In whose process a sink's task runs; empty for any other consumer."""
        facts = self.header.consumers.get(consumer)
        process = facts.process if facts is not None else ""
        return process if process in self.workers and consumer not in self.workers else ""

    def of_task(self, p: Pause) -> Told | None:
        """Where no round had a part in a task's pause: its thread died, or it was restarted."""
        if p.owner_before not in self.workers:
            return None
        if has_failed(self.index, p):
            return CauseKind.TASK_FAILED, p.owner_before, p.started_us
        if (lost := coordinator_lost(self.index, p)) >= 0:
            return CauseKind.COORDINATOR_LOST, p.owner_before, self.index.events[lost].at_us
        deed = self.deed_on(p.partition.topic, p.started_us)
        e = self.index.events[deed] if deed >= 0 else None
        if type(e) is not ev.ScriptActed or e.kind != RestartConnector.__name__:
            return None
        if p.started_us - e.at_us > SOON_US:
            return None
        return CauseKind.CONNECTOR_RESTARTED, p.partition.topic, p.started_us

    def delay_that_ended(self, worker: str, at_us: int) -> int:
        """When the scheduled delay began that was over then; −1 if none was."""
        if not self._delays:
            groups = frozenset(self.index.group_of[w] for w in self.workers)
            self._delays = delays_of(self.index, groups)
        windows = self._delays.get(self.index.group_of.get(worker, ""), [])
        place = bisect_right(windows, at_us, key=lambda window: window[1])
        if not place or at_us - windows[place - 1][1] > SOON_US:
            return -1
        return windows[place - 1][0]

    def behind(self, kind: CauseKind, consumer: str, at_us: int) -> Told:
        """This cause of a cluster's round, or the cause of the earlier round that made it necessary."""
        if not self.workers:
            return kind, consumer, at_us
        told = self._known.get((kind, consumer, at_us))
        if told is None:
            told = self._known[kind, consumer, at_us] = self._behind(kind, consumer, at_us)
        return told

    def _behind(self, kind: CauseKind, consumer: str, at_us: int) -> Told:
        if kind is CauseKind.REJOINED and consumer in self.workers:
            asked = self.index.last_of(consumer, at_us, ev.RejoinRequested)
            asked_us = self.index.events[asked].at_us if asked >= 0 else at_us
            place = bisect_right(self.changes, (asked_us, "\uffff"))
            if place and self.changes[place - 1][0] >= asked_us - SOON_US:
                changed_us, connector = self.changes[place - 1]
                return CauseKind.CONNECTOR_CHANGED, connector, changed_us
        worker = self.worker_of(consumer)
        if worker and kind is CauseKind.LEFT and not self._is_ending(worker, at_us):
            return CauseKind.TASK_STOPPED, worker, at_us
        if worker and kind in (CauseKind.SCALE_OUT, CauseKind.RESTART):
            return CauseKind.TASK_STARTED, worker, at_us
        return kind, consumer, at_us

    def _is_ending(self, worker: str, at_us: int) -> bool:
        """Was its process asked to stop, or dead?"""
        turns = self._turns.get(worker)
        if turns is None:
            events, numbers = self.index.events, self.index.by_consumer.get(worker, NOTHING)
            turns = self._turns[worker] = [
                (events[n].at_us, type(events[n]) is not ev.ConsumerStarted)
                for n in numbers
                if type(events[n]) in (ev.ConsumerStarted, ev.StopAsked, ev.ConsumerExited)
            ]
        place = bisect_right(turns, (at_us, True))
        return place > 0 and turns[place - 1][1]

    def deed_on(self, connector: str, at_us: int) -> int:
        """The last action of the script that this connector was the target of; −1 if none."""
        found = [
            n
            for n in self.deeds
            if self.index.events[n].at_us <= at_us
            and self.index.events[n].targets[0] in (connector, *_tasks_of(connector, self, n))
        ]
        return found[-1] if found else -1

    def deed_on_the_way(self, worker: str, at_us: int) -> int:
        """The last deed that takes a coordinator out of the worker's reach; −1 if none."""
        events = self.index.events
        found = [
            n
            for n in self.index.world
            if type(events[n]) is ev.ScriptActed
            and events[n].at_us <= at_us
            and (events[n].kind in _OF_BROKERS or worker in events[n].targets)
        ]
        return found[-1] if found else -1

    def round_before(
        self, worker: str, at_us: int, disturbances: Sequence[Disturbance]
    ) -> Disturbance | None:
        """What the worker's cluster went through last."""
        group = self.index.group_of.get(worker, "")
        mine = self._disturbed.get(group)
        if mine is None:
            mine = self._disturbed[group] = [d for d in disturbances if d.group == group]
        place = bisect_right(mine, at_us, key=lambda d: d.started_us)
        return mine[place - 1] if place else None


def _tasks_of(connector: str, causes: ClusterCauses, deed: int) -> tuple[str, ...]:
    """The deed's target, where it is one of the connector's tasks."""
    target = causes.index.events[deed].targets[0]
    return (target,) if target.rpartition("-")[0] == connector else ()
