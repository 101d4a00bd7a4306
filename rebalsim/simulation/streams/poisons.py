"""Records that hang whoever handles them, or have it die: as long as nobody commits past one, the next
owner of its task gets it, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.domain.ids import Partition
from rebalsim.simulation.streams.port import Port
from rebalsim.simulation.streams.stream_thread import StreamThread

ERROR = "StreamsException"  # what Kafka Streams makes of a processor's exception


@dataclass(slots=True)
class Poison:
    """`draw_us` is how long it hangs one; `times` how often until it is skipped, None: for ever."""

    task: TaskId
    partition: Partition
    draw_us: Callable[[], int]
    throws: bool
    times: int | None
    delivered: int = 0

    @property
    def is_over(self) -> bool:
        return self.times is not None and self.delivered >= self.times


class Poisons:
    """All of them."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._known: list[Poison] = []

    def add(self, poison: Poison, thread: StreamThread | None) -> None:
        """It is there; whoever runs the task gets it now."""
        self._known.append(poison)
        if thread is not None:
            self._strike(poison, thread)

    def met(self, task: TaskId, thread: StreamThread, first_us: int) -> None:
        """A thread begins to run the task, from the last commit on."""
        for poison in self._known:
            if poison.task == task and not poison.is_over:
                self._port.call(self._port.now + first_us + 1, self._struck, (poison, thread))

    def _struck(self, met: tuple[Poison, StreamThread]) -> None:
        self._strike(*met)

    def _strike(self, poison: Poison, thread: StreamThread) -> None:
        if thread.is_gone or not thread.handles(poison.task) or poison.is_over:
            return
        poison.delivered += 1
        length_us = poison.draw_us()
        if length_us:
            thread.hang(length_us, "poisoned")
        self._port.call(self._port.now + length_us, self._handled, (poison, thread))

    def _handled(self, struck: tuple[Poison, StreamThread]) -> None:
        """Whoever has the task still goes on after it, unless it throws."""
        poison, thread = struck
        if thread.is_gone or not thread.handles(poison.task):
            return
        if poison.throws:
            thread.refused(f"a record of {poison.partition} could not be handled", ERROR)
        elif poison in self._known:
            self._known.remove(poison)
