"""The herder's thread, tick by tick: membership, completed rounds, requests, config updates
(DistributedHerder). While it waits for work to stop it does nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rebalsim.assignors.connect.work import NO_WORK, Task, Work
from rebalsim.connect.claims import Assigned, Given
from rebalsim.connect.config_state import (
    UNREAD,
    ConfigState,
    ConnectorPut,
    ConnectorRemoved,
    KeyPut,
    Record,
    TargetPut,
    TasksPut,
)
from rebalsim.connect.fencing import Fencing
from rebalsim.connect.leading import DEFAULT
from rebalsim.connect.membership import Membership
from rebalsim.connect.membership_listener import Ears
from rebalsim.connect.port import NEVER, Port, Steps
from rebalsim.connect.runner import Runner
from rebalsim.domain.connect import STARTED, Connector
from rebalsim.trace.connect_events import ConfigLagged, WorkAssigned

RETRIES = 5  # DistributedHerder.BACKOFF_RETRIES
Request = Callable[[], None]


class Herder(Ears):
    """One worker's herder, for one life of its process."""

    def __init__(self, port: Port) -> None:
        self.port = port
        self.thread = port.thread()
        self.runner = Runner(port, self.thread)
        self.group = Membership(port, self.thread, self)
        self.config: ConfigState = UNREAD  # as of the last time that this thread looked
        self.assignment: Assigned | None = None
        self.running: Work = NO_WORK  # what was started, and not stopped by a revocation
        self.version = self.group.protocol  # of the last round that was taken over
        self.to_restart: dict[Task, None] = {}
        self.is_resolved = True
        self.scheduled_us = NEVER
        self.can_read = True
        self.retries = RETRIES
        self.requests: list[tuple[int, int, Request]] = []  # due, number, what to do
        self.requests_made = 0
        self.needs_reconfig = False
        self.connector_updates: dict[str, None] = {}
        self.target_changes: dict[str, None] = {}
        self.task_updates: dict[str, None] = {}
        self.restarts: dict[str, None] = {}
        self.is_stopping = False
        self.has_asked_for_key = False
        self.fencing = Fencing(self)

    # ------------------------------------------------------------------------------------ the thread

    def run(self) -> Steps:
        while not self.is_stopping and not self.group.is_gone:
            yield from self._tick()
        if not self.group.is_gone:
            yield from self._halt()

    def stop(self) -> None:
        """SIGTERM: the tick at hand is finished first."""
        self.is_stopping = True
        self.group.wake()

    def _halt(self) -> Steps:
        """All connectors, then all tasks, each together; only then does it leave."""
        yield from self.runner.stop_connectors(list(self.runner.connectors))
        yield from self.runner.stop_together(list(self.runner.tasks))
        yield from self.runner.end_leftovers()
        yield from self._sleep(self.port.draw("leave", self.port.costs.leave))
        self.group.leave("the consumer is being closed")

    def _sleep(self, us: int) -> Steps:
        until = self.port.now + us
        while self.port.now < until:
            yield from self.thread.wait(until)

    def _tick(self) -> Steps:
        if not self.can_read and not (yield from self._read_config()):
            return
        self.can_read = True
        yield from self.group.ensure_active()
        if self.group.is_gone or self.is_stopping:
            return
        if not (yield from self._handle_completed()):
            return
        self._ask_for_key()
        yield from self._run_requests()
        next_us = self.requests[0][0] if self.requests else NEVER
        if self.scheduled_us < NEVER:
            next_us = min(next_us, self.scheduled_us)
            self.is_resolved = False
        if (yield from self._handle_updates()):
            return
        yield from self.group.poll(next_us)
        if not self.group.is_gone and not self.is_stopping:
            yield from self._handle_completed()

    # ------------------------------------------------------------------------------------- requests

    def ask(self, what: Request, after_us: int = 0) -> None:
        """A request for this thread, now or so much later."""
        self.requests_made += 1
        self.requests.append((self.port.now + after_us, self.requests_made, what))
        self.requests.sort(key=lambda request: request[:2])
        self.group.wake()

    def _run_requests(self) -> Steps:
        while self.requests and self.requests[0][0] <= self.port.now:
            self.requests.pop(0)[2]()
        for name in _taken(self.restarts):
            yield from self._restart(name)

    def ask_restart(self, connector: str) -> None:
        self.restarts[connector] = None
        self.group.wake()

    def _restart(self, name: str) -> Steps:
        """What this worker has of the connector is stopped and started again, without a round."""
        state = self.config.connectors.get(name)
        tasks = [task for task in self.runner.tasks if task.connector == name]
        if state is None:
            return
        if name in self.runner.connectors:
            yield from self.runner.stop_connectors([name])
            self.runner.start_connector(state.connector, state.target, self._connector_started)
        yield from self.runner.stop_together(tasks)
        yield from self.runner.start((), tasks, self.config, self._connector_started)

    def _ask_for_key(self) -> None:
        """A leader of a sessioned cluster hands out a key for requests among workers."""
        if (
            self.group.is_leader
            and self.group.protocol == "sessioned"
            and not self.has_asked_for_key
            and not self.port.config_state().has_key
        ):
            self.has_asked_for_key = True
            self.port.write_config([KeyPut()])

    # ------------------------------------------------------------------------------ a completed round

    def _handle_completed(self) -> Any:
        """True if all is settled; else the next tick begins with the group."""
        assignment = self.assignment
        if self.is_resolved or assignment is None:
            return True
        is_behind = self.config.offset < assignment.offset
        needs_read = is_behind or (assignment.is_failed and self.group.is_leader)
        needs_rejoin = assignment.is_failed
        if self.scheduled_us <= self.port.now:
            self.scheduled_us = NEVER
            needs_rejoin = True
        if needs_read:
            self.can_read = yield from self._read_config()
            needs_rejoin = needs_rejoin or not self.can_read
        if needs_rejoin or self.config.offset != assignment.offset:
            self.group.request_rejoin()
            return False
        yield from self._start_work(assignment)
        self.is_resolved = True
        self.port.is_at_work()
        if assignment.revoked:
            self._forget_revocation()
            self.group.request_rejoin()
            return False
        return True

    def _forget_revocation(self) -> None:
        self.group.forget_revocation()
        self.assignment = self.group.assignment

    def _start_work(self, assignment: Assigned) -> Steps:
        self.running = self.running.without(Work((), tuple(self.to_restart)))
        self.to_restart.clear()
        fresh = assignment.work.without(self.running)
        yield from self.runner.start(
            fresh.connectors, fresh.tasks, self.config, self._connector_started
        )
        # an eager worker's list is emptied: everything is stopped before the next round anyway
        self.running = NO_WORK if self.group.is_eager else assignment.work

    def _read_config(self) -> Any:
        """Read the config topic to its end; a worker that cannot in time leaves, and backs off."""
        settings, done = self.port.settings, [False]

        def read() -> None:
            done[0] = True
            self.thread.wake()

        self.port.read_config_to_end(read)
        until = self.port.now + settings.worker_sync_timeout_us
        while not done[0] and self.port.now < until:
            yield from self.thread.wait(until)
        if done[0]:
            self.config = self.port.config_state()
            self.retries = RETRIES
            return True
        self.port.record(ConfigLagged(self.port.now, self.port.name))
        self.group.leave("taking too long to read the log")
        yield from self._back_off()
        return False

    def _back_off(self) -> Steps:
        settings = self.port.settings
        if self.group.is_eager:
            yield from self._sleep(settings.worker_unsync_backoff_us)
        elif self.retries > 0:
            yield from self._sleep(settings.scheduled_rebalance_max_delay_us // 10 // self.retries)
            self.retries -= 1
        else:
            yield from self.revoked(self.running)
            self.retries = RETRIES

    # ---------------------------------------------------------------------------- told by membership

    def revoked(self, work: Work) -> Steps:
        """onRevoked: stopped, and their states written to the status topic. Under eager a round that
        was never resolved started nothing, and nothing is stopped.
        """
        if not self.is_resolved and self.version == DEFAULT:
            return
        yield from self.runner.stop(work)
        yield from self._sleep(self.port.draw("flush", self.port.costs.flush))
        self.running = self.running.without(work)

    def assigned(self, assigned: Assigned, given: Given, generation: int) -> None:
        """onAssigned."""
        port = self.port
        self.assignment = assigned
        self.version = self.group.protocol
        self.scheduled_us = port.now + given.delay_us if given.delay_us > 0 else NEVER
        self.is_resolved = False
        self.group.wake()
        port.record(
            WorkAssigned(
                port.now,
                port.name,
                generation,
                self.group.protocol,
                tuple(given.given.names()),
                tuple(given.revoked.names()),
                given.delay_us,
                given.is_failed,
            )
        )

    # -------------------------------------------------------------------------------- config updates

    def heard(self, record: Record) -> None:
        """The config topic's reader has read this (ConfigUpdateListener)."""
        if isinstance(record, TasksPut):
            self.needs_reconfig = True
            self.task_updates[record.name] = None
        elif isinstance(record, ConnectorPut):
            self._connector_heard(record.connector.name, is_there=False)
        elif isinstance(record, ConnectorRemoved):
            self._connector_heard(record.name, is_there=True)
        elif isinstance(record, TargetPut):
            self.target_changes[record.name] = None
        else:
            return
        self.group.wake()

    def _connector_heard(self, name: str, *, is_there: bool) -> None:
        """One that comes or goes is a matter for the group; a changed one for its owner."""
        if (name in self.config.connectors) is is_there:
            self.needs_reconfig = True
        else:
            self.connector_updates[name] = None

    def _handle_updates(self) -> Any:
        """True if that was all for this tick."""
        is_eager = self.group.is_eager
        if not (
            self.needs_reconfig
            or self.connector_updates
            or self.target_changes
            or (self.task_updates and not is_eager)
        ):
            return False
        self.config = self.port.config_state()
        wants_round, self.needs_reconfig = self.needs_reconfig, False
        if wants_round:
            self.group.request_rejoin()
        if wants_round and is_eager:
            self.connector_updates.clear()
            self.target_changes.clear()
            return True
        yield from self._restart_connectors(_taken(self.connector_updates))
        self._change_targets(_taken(self.target_changes))
        if not is_eager:
            yield from self._stop_reconfigured(_taken(self.task_updates))
        return wants_round

    def _restart_connectors(self, names: list[str]) -> Steps:
        mine = self.assignment.work.connectors if self.assignment is not None else ()
        for name in names:
            if name in mine:
                yield from self.runner.stop_connectors([name])
                state = self.config.connectors.get(name)
                if state is not None:
                    self.runner.start_connector(
                        state.connector, state.target, self._connector_started
                    )

    def _change_targets(self, names: list[str]) -> None:
        for name in names:
            state = self.config.connectors.get(name)
            if state is not None:
                self.runner.set_target(state.connector, state.target, self._connector_started)

    def _stop_reconfigured(self, names: list[str]) -> Steps:
        held = self.assignment.work.tasks if self.assignment is not None else ()
        tasks = [task for task in held if task.connector in names]
        if tasks:
            yield from self.runner.stop_together(tasks)
            self.to_restart.update(dict.fromkeys(tasks))

    def newest_of(self, task: Task) -> int:
        """Which set of task configs is the newest; −1 if the task is not this worker's any more."""
        self.config = self.port.config_state()
        state = self.config.connectors.get(task.connector)
        is_mine = self.assignment is not None and task in self.assignment.work.tasks
        return state.generation if state is not None and is_mine else -1

    # ------------------------------------------------------------------------------------ its wishes

    def _connector_started(self, connector: Connector) -> None:
        """It is asked for its tasks' configs, in this thread; if they differ, the leader writes
        them.
        """
        self.ask(lambda: self._make_tasks(connector))

    def _make_tasks(self, connector: Connector) -> None:
        state = self.config.connectors.get(connector.name)
        if state is None or connector.name not in self.runner.connectors:
            return
        if state.target != STARTED or not self.config.wants_tasks(state.connector):
            return
        made = TasksPut(connector.name, state.connector.tasks_max, state.connector.revision)
        if self.group.is_leader:
            self.write([made])
        else:
            self.port.ask_leader(lambda leader: leader.write([made]))

    def write(self, records: list[Record]) -> None:
        """As the leader; a rebalance meanwhile does not matter to the topic."""
        self.port.write_config(records)


def _taken(updates: dict[str, None]) -> list[str]:
    found = list(updates)
    updates.clear()
    return found
