"""An instance of the application over its lives: its process id, its disk, its threads, and the
application's state as they make it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rebalsim.assignors.streams.tasks import TaskId, Topology
from rebalsim.domain.kafka_states import KafkaStreamsState
from rebalsim.simulation.streams.application import Application, ThreadSettings
from rebalsim.simulation.streams.changelogs import Progresses
from rebalsim.simulation.streams.happenings import ApplicationStateChanged, InstanceChanged
from rebalsim.simulation.streams.known_loop import KnownLoop, Recorded
from rebalsim.simulation.streams.link import Link
from rebalsim.simulation.streams.port import Port
from rebalsim.simulation.streams.stream_thread import (
    ASSIGNED,
    REVOKED,
    RUNNING,
    StreamThread,
)

MakeThread = Callable[["Instance", int, ThreadSettings], StreamThread]


class Instance:
    """One instance. `first_request_us` may say when a thread's first request of a life leaves."""

    def __init__(
        self,
        port: Port,
        application: Application,
        topology: Topology,
        progresses: Progresses,
        name: str,
        processes: list[str],
        make_thread: MakeThread,
        unstable: dict[TaskId, int],
        loops: Mapping[tuple[str, int, int], Recorded],
    ) -> None:
        self._port = port
        self.application, self.topology, self.progresses = application, topology, progresses
        self.name = name
        self._processes = processes
        self._make_thread = make_thread
        self._unstable = unstable
        self._loops = loops
        self.process = ""
        self.life = 0
        self.state: str = KafkaStreamsState.NOT_RUNNING
        self.threads: list[StreamThread] = []
        self.started_with = 0  # so many, in its latest life
        self.link = Link()
        self.when_runs: Callable[[TaskId, StreamThread, int], None] | None = None
        self.when_failed: Callable[[str], None] | None = None
        self.when_down: Callable[[], None] | None = None  # whoever waits for its end
        self.locks: dict[TaskId, int] = {}
        self._disk: dict[TaskId, int] = {}
        self._disk_since: dict[TaskId, int] = {}
        self._disk_of_old: set[TaskId] = set()  # checkpoints that clients of 2.3 wrote
        self._settings = ThreadSettings()
        self.is_up = False
        self.is_warm = False  # it ran before: whatever it is given now, it has the state of

    # ----------------------------------------------------------------------------------------- lives

    def start(self, settings: ThreadSettings, first_request_us: dict[int, int]) -> None:
        """A process begins; its state directory is looked through, then its threads start."""
        self.life += 1
        self.is_up = True
        self._settings = settings
        if not settings.keeps_disk:
            self._disk.clear()
        self.process = self._process_id()
        threads = self.started_with = settings.threads
        self._port.tell(InstanceChanged(self._port.now, self.name, self.life, "started", threads))
        self.state = KafkaStreamsState.CREATED
        self._set_state(KafkaStreamsState.REBALANCING)
        probing = self.application.timing.probe_store_us * len(self._disk)
        due = self._port.now + settings.start_us + self.application.timing.start_us + probing
        self.threads = [
            self._make_thread(self, number + 1, settings) for number in range(settings.threads)
        ]
        for thread in self.threads:
            at_us = max(first_request_us.get(thread.number, due), self._port.now)
            self._port.call(at_us, self._begin, (thread, self.life))

    def _begin(self, begun: tuple[StreamThread, int]) -> None:
        thread, life = begun
        if life == self.life and self.is_up:
            self._port.begin(thread.run())
            self._port.begin(thread.updater.run())

    def _process_id(self) -> str:
        """Kept in the state directory, where there is one; else another one each life."""
        if len(self._processes) >= self.life:
            return self._processes[self.life - 1]
        keeps = self._settings.keeps_disk and bool(self.topology.changelogs)
        life = 1 if keeps else self.life
        drawn = f"{self._port.draw(f'process id of {self.name} {life}').getrandbits(128):032x}"
        return "-".join((drawn[:8], drawn[8:12], drawn[12:16], drawn[16:20], drawn[20:]))

    def known_loop(self, thread: int) -> KnownLoop:
        """What a recording knows of a thread's loop in this life."""
        return KnownLoop(self._loops.get((self.name, self.life, thread)))

    def close(self) -> None:
        """KafkaStreams.close()."""
        if not self.is_up:
            return
        self._port.tell(InstanceChanged(self._port.now, self.name, self.life, "closing"))
        self._set_state(KafkaStreamsState.PENDING_SHUTDOWN)
        for thread in self.threads:
            thread.ask_to_close()

    def thread_is_dead(self) -> None:
        if all(thread.state == "DEAD" for thread in self.threads) and self.is_up:
            self.is_up = False
            self._set_state(
                KafkaStreamsState.ERROR
                if self.state == KafkaStreamsState.PENDING_ERROR
                else KafkaStreamsState.NOT_RUNNING
            )
            self._port.tell(InstanceChanged(self._port.now, self.name, self.life, "closed"))
            if self.when_down is not None:
                self.when_down()
            if self.state == KafkaStreamsState.ERROR and self.when_failed is not None:
                self.when_failed(self.name)

    def kill(self) -> None:
        """SIGKILL."""
        if not self.is_up:
            return
        self.is_up = False
        self._port.tell(InstanceChanged(self._port.now, self.name, self.life, "killed"))
        for thread in self.threads:
            thread.vanish()
        self.state = KafkaStreamsState.NOT_RUNNING

    def fail(self) -> None:
        """An exception nobody caught: all threads close, and the application is in error."""
        if self.is_up:
            self._port.tell(InstanceChanged(self._port.now, self.name, self.life, "closing"))
            self._set_state(KafkaStreamsState.PENDING_ERROR)
            for thread in self.threads:
                thread.ask_to_close()

    def freeze(self) -> None:
        self._port.tell(InstanceChanged(self._port.now, self.name, self.life, "froze"))
        for thread in self.threads:
            thread.freeze()

    def thaw(self) -> None:
        self._port.tell(InstanceChanged(self._port.now, self.name, self.life, "thawed"))
        for thread in self.threads:
            thread.thaw()

    def cut(self, from_all: bool) -> None:
        """Its link is cut, from the coordinator or from all brokers."""
        was_cut_from_all = self.link.is_cut_from_all
        self.link.cut(from_all)
        for thread in self.threads if self.is_up else ():
            thread.heard("LinkCut", from_all_brokers=from_all)
            thread.cut_off(self.link.is_cut_from_all and not was_cut_from_all)

    def heal(self, from_all: bool) -> None:
        was_cut_from_all = self.link.is_cut_from_all
        self.link.heal(from_all)
        for thread in self.threads if self.is_up and not self.link.is_cut else ():
            thread.heard("LinkHealed")
            thread.reconnect(was_cut_from_all)

    def hang(self, length_us: int) -> None:
        """The handler of its first thread is stuck."""
        if self.is_up and self.threads:
            self.threads[0].hang(length_us)

    # ------------------------------------------------------------------------------------------ disk

    def on_disk(self, task: TaskId) -> int:
        """Where restoration of a task would begin here."""
        if self.is_warm and task in self.topology.changelogs:
            return self.progresses.end(task, self._port.now)
        return self._disk.get(task, 0)

    def keep(self, task: TaskId, position: int) -> None:
        """A task was closed: its directory stays, unless its stores are in memory."""
        stores = self.application.parts[task.subtopology].stores.values()
        if position <= 0 or any(store.in_memory for store in stores):
            self.wipe(task)
            return
        if self._settings.restores_inside:
            self._disk_of_old.add(task)
        else:
            self._disk_of_old.discard(task)
        self._disk[task] = position
        self._disk_since[task] = self._port.now

    def is_beyond_end(self, task: TaskId) -> bool:
        """A checkpoint of 2.3 is the next offset, and later clients begin one after it: beyond the
        end, if the changelog did not grow.
        """
        old = task in self._disk_of_old and not self._settings.restores_inside
        return old and self._disk.get(task, 0) >= self.progresses.end(task, self._port.now)

    def wipe(self, task: TaskId) -> None:
        """Its directory is deleted."""
        self._disk.pop(task, None)
        self._disk_of_old.discard(task)

    def lose_disk(self) -> None:
        """The volume is gone."""
        self._disk.clear()

    def unused_on_disk(self, thread: int) -> dict[TaskId, int]:
        """Directories that no thread holds, told by the first thread alone; one that nobody used
        for state.cleanup.delay.ms is deleted.
        """
        now, delay = self._port.now, self._settings.cleanup_delay_us
        held = {task for each in self.threads for task in each.tasks}
        for task in sorted(self._disk):
            if task not in held and now - self._disk_since.get(task, now) > delay:
                del self._disk[task]
        if any(each.number < thread and each.state != "DEAD" for each in self.threads):
            return {}
        return {task: at for task, at in sorted(self._disk.items()) if task not in held}

    def runs(self, task: TaskId, thread: int, first_us: int) -> None:
        """One of its threads begins to process the task's records, which come so much later."""
        if self.when_runs is not None:
            self.when_runs(task, self.threads[thread - 1], first_us)

    # ----------------------------------------------------------------------------------- transactions

    def stable_at(self, task: TaskId) -> int:
        """When the open transaction of a dead owner is out of the way."""
        return self._unstable.get(task, 0)

    def leave_transaction(self, task: TaskId, since_us: int) -> None:
        """The process died with records uncommitted: the coordinator aborts them when the
        transaction's time is over, at its next look.
        """
        over = since_us + self._settings.transaction_timeout_us
        group = self.application.group
        self._unstable[task] = over + (group.abort_looks_us - over) % group.abort_check_us

    # ---------------------------------------------------------------------------------------- states

    def look_at_states(self) -> None:
        """REBALANCING while a thread is between assignments, RUNNING when all run."""
        if self.state not in (KafkaStreamsState.REBALANCING, KafkaStreamsState.RUNNING):
            return
        states = {thread.state for thread in self.threads if thread.state != "DEAD"}
        if states & {REVOKED, ASSIGNED}:
            self._set_state(KafkaStreamsState.REBALANCING)
        elif states == {RUNNING}:
            self._set_state(KafkaStreamsState.RUNNING)

    def _set_state(self, state: str) -> None:
        if state != self.state:
            before, self.state = self.state, state
            self._port.tell(ApplicationStateChanged(self._port.now, self.name, before, state))
