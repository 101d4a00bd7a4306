"""Fencing under exactly.once.source.support=enabled: before a source's tasks of a new set of
configs may produce, the leader shuts out the producers of the former set, once for all of them, and
writes to the config topic how many tasks it let in (doFenceZombieSourceTasks of DistributedHerder).

No recording has it: what it costs is as Kafka's sources have it, and not measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from rebalsim.connect.config_state import ConfigState, Record, TaskCountPut
from rebalsim.connect.port import Port

Done = Callable[[str], None]  # called with what went wrong, or nothing
NOT_LEADER = "only the leader may fence"
NOT_FOUND = "the connector was not found"
CONFLICT = "new task configs came meanwhile"


class Fencer(Protocol):
    """Whose fencing it is: a herder."""

    port: Port
    group: Any
    config: ConfigState

    def ask(self, what: Callable[[], None]) -> None:
        """In the herder's thread."""

    def write(self, records: list[Record]) -> None: ...


class Fencing:
    """One herder's part in it."""

    def __init__(self, herder: Fencer) -> None:
        self.herder = herder
        self.under_way: dict[str, list[Done]] = {}  # connector → who waits for it
        self.counted: dict[str, int] = {}  # connector → the set that a record was written for

    def request(self, connector: str, done: Done) -> None:
        """By a task's thread of this worker: its own herder looks first, and forwards it if another
        one leads. What waits here waits for the herder's thread.
        """
        herder = self.herder

        def forwarded() -> None:
            if herder.group.is_leader:
                self.lead(connector, done)
            else:
                herder.port.ask_leader(lambda leader: leader.fencing.lead(connector, done))

        herder.ask(forwarded)

    def lead(self, connector: str, done: Done) -> None:
        """In the leader's thread."""
        herder = self.herder
        if not herder.group.is_leader:
            done(NOT_LEADER)
            return
        herder.config = herder.port.config_state()
        state = herder.config.connectors.get(connector)
        if state is None:
            done(NOT_FOUND)
            return
        if not state.awaits_fencing or self.counted.get(connector) == state.generation:
            done("")
            return
        if state.counted < 0 or (state.counted == 1 and state.tasks == 1):
            self._count(connector, state.tasks, state.generation)
            done("")
            return
        waiting = self.under_way.setdefault(connector, [])
        waiting.append(done)
        if len(waiting) == 1:
            port, generation = herder.port, state.generation
            took = port.draw(f"fence/{connector}", port.costs.fence)
            port.at(
                port.now + took, lambda _: herder.ask(lambda: self._fenced(connector, generation))
            )

    def _fenced(self, connector: str, generation: int) -> None:
        """The producers of the former set are shut out."""
        herder = self.herder
        herder.port.shut_out(connector, generation)
        herder.config = herder.port.config_state()
        state = herder.config.connectors.get(connector)
        is_same = state is not None and state.generation == generation
        if state is not None and is_same:
            self._count(connector, state.tasks, generation)
        for done in self.under_way.pop(connector, []):
            done("" if is_same else CONFLICT)

    def _count(self, connector: str, tasks: int, generation: int) -> None:
        self.counted[connector] = generation
        self.herder.write([TaskCountPut(connector, tasks)])
