"""A Connect cluster in the simulated world: its config topic, which every worker tails with some
lag, and requests, which only the leader takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rebalsim.assignors.connect.work import Task
from rebalsim.connect.config_state import (
    UNREAD,
    ConfigState,
    ConnectorPut,
    ConnectorRemoved,
    KeyPut,
    Record,
    TaskCountPut,
    TasksPut,
    applied,
)
from rebalsim.connect.exactly_once_task import ExactlyOnceTask
from rebalsim.domain.connect import SOURCE, ConnectCluster
from rebalsim.simulation.engine import SCRIPT
from rebalsim.simulation.workers.processor import Processor
from rebalsim.trace.connect_events import TasksConfigured

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World

AGAIN_US = 250_000  # whoever is told 409 asks again so much later


class Cluster:
    """The config topic and the door."""

    def __init__(self, world: World, spec: ConnectCluster) -> None:
        self.world = world
        self.spec = spec
        self.records: list[Record] = []
        self.states: list[ConfigState] = [UNREAD]  # after so many records
        self._read: dict[str, int] = {}  # worker → how many it has read
        self._comes_us: dict[str, int] = {}  # worker → when its last record came
        self.processor: Processor | None = None  # that all workers share; None: each has plenty
        self.is_driven = False  # a recording says what is written, and who reads it when …
        self.wanted_us: dict[str, int] = {}  # … and when connectors asked for their tasks
        for connector in spec.connectors:
            self.append(ConnectorPut(connector))
            self.append(TasksPut(connector.name, connector.tasks_max, connector.revision))
            if connector.kind == SOURCE and self._is_exactly_once():
                self.append(TaskCountPut(connector.name, connector.tasks_max))
        if spec.connectors:
            self.append(KeyPut())

    def _is_exactly_once(self) -> bool:
        """Has a worker shut out former tasks before the story begins?"""
        groups = (group for group in self.world.scenario.groups if group.name == self.spec.group)
        return any(c.worker and c.worker.is_exactly_once for g in groups for c in g.consumers)

    @property
    def workers(self) -> list[Any]:
        return self.world.members_of(self.spec.group)

    # --------------------------------------------------------------------------------- config topic

    def append(self, record: Record) -> int:
        """One more record; how many there are now."""
        self.records.append(record)
        if isinstance(record, TasksPut | ConnectorRemoved):
            count = record.count if isinstance(record, TasksPut) else 0
            world = self.world
            world.tell(TasksConfigured(world.engine.now, self.spec.group, record.name, count))
        self.states.append(applied(self.states[-1], record))
        return len(self.records)

    def read_by(self, worker: Any) -> ConfigState:
        return self.states[self._read.get(worker.name, 0)]

    def joined(self, worker: Any) -> None:
        """A worker reads the whole topic before it does anything."""
        self._read[worker.name] = len(self.records)

    def write(self, records: list[Record]) -> None:
        if self.is_driven:
            now = self.world.engine.now
            self.wanted_us.update({r.name: now for r in records if isinstance(r, TasksPut)})
            return
        for record in records:
            count = self.append(record)
            for worker in self.workers:
                if worker.is_alive:
                    self._deliver(worker, count)

    def _deliver(self, worker: Any, count: int) -> None:
        late = worker.draw("write", worker.costs.write) + worker.draw(
            "config", worker.costs.config_lag
        )
        comes = max(worker.now + late, self._comes_us.get(worker.name, 0))
        self._comes_us[worker.name] = comes
        worker.at(comes, lambda _: self.read_up_to(worker, count))

    def read_up_to(self, worker: Any, count: int) -> None:
        """The worker's reader has come so far; it tells the herder of each record."""
        while self._read.get(worker.name, 0) < count:
            place = self._read.get(worker.name, 0)
            self._read[worker.name] = place + 1
            worker.herder.heard(self.records[place])

    def unread(self, worker: Any, count: int) -> list[Record]:
        """Up to that place, what the worker has not read."""
        return self.records[self._read.get(worker.name, 0) : count]

    def read_to_end(self, worker: Any, then: Callable[[], None]) -> None:
        """To where the topic ends now."""
        end = len(self.records)

        def done(_: Any) -> None:
            if not self.is_driven:
                self.read_up_to(worker, end)
            then()

        worker.at(worker.now + worker.draw("config-read", worker.costs.config_read), done)

    # --------------------------------------------------------------------------------------- requests

    def leader(self) -> Any:
        """The worker that leads and knows of no rebalance to come; None while nobody does."""
        for worker in self.workers:
            if worker.is_alive and not worker.is_frozen:
                group = worker.herder.group
                if group.is_leader and not group.must_join():
                    return worker
        return None

    def ask_leader(self, what: Callable[[Any], None]) -> None:
        """Asked until somebody leads and is not about to rebalance."""
        if self.is_driven:
            what(self)
        else:
            world = self.world
            took = world.randomness.stream(f"request/{self.spec.group}").draw(
                world.machine.workers.request
            )
            world.engine.at(world.engine.now + took, SCRIPT, self._asks, what)

    def _asks(self, what: Callable[[Any], None]) -> None:
        leader = self.leader()
        if leader is None:
            self.world.engine.at(self.world.engine.now + AGAIN_US, SCRIPT, self._asks, what)
        else:
            leader.herder.ask(lambda: what(leader.herder))

    def restart(self, connector: str) -> None:
        """Each worker restarts what it has of this connector, in its herder's thread."""
        for worker in self.workers:
            if worker.is_alive:
                worker.herder.ask_restart(connector)

    def fail(self, connector: str, number: int) -> None:
        """The task's thread dies, wherever it runs."""
        for worker in self.workers:
            if worker.is_alive:
                worker.herder.runner.fail(Task(connector, number))

    def shut_out(self, which: Callable[[Any], bool]) -> None:
        """The producers of these copies of exactly-once sources' tasks."""
        for worker in self.workers:
            for copy in worker.running if worker.is_alive else ():
                if isinstance(copy, ExactlyOnceTask) and not copy.is_ended and which(copy):
                    copy.shut_out()
