"""A stream thread's punctuators: each of its tasks is called every so often, one task after another,
and meanwhile the thread neither processes nor polls.
"""

from __future__ import annotations

from typing import Protocol

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.simulation.streams.application import Part, Punctuator
from rebalsim.simulation.streams.port import Port

Place = tuple[int, int]  # a sub-topology, and which of its punctuators


class Punctuated(Protocol):
    """The thread, as its punctuators see it."""

    def processes(self, subtopology: int) -> list[TaskId]:
        """Its tasks of it that run."""
        ...

    def has_records(self, task: TaskId) -> bool: ...

    def free_at(self) -> int: ...

    def punctuate(self, length_us: int) -> None: ...


class Punctuations:
    """One thread's. Calls that are over sooner than a poll() waits (`poll_us`) are a share of its time;
    longer ones are played, as stretches in which its tasks stand still.
    """

    def __init__(
        self, port: Port, thread: Punctuated, parts: tuple[Part, ...], poll_us: int
    ) -> None:
        self._port, self._thread, self._parts, self._poll_us = port, thread, parts, poll_us
        self._due: dict[Place, int] = {}

    def began(self, task: TaskId) -> None:
        """It was initialized, and its punctuators scheduled; the calls of those that were there
        before keep their times.
        """
        for number, each in enumerate(self._parts[task.subtopology].punctuators):
            place = (task.subtopology, number)
            if place not in self._due:
                self._plan(place, self._port.now + each.every_us)

    def share(self) -> float:
        """Of the thread's time that goes to short calls."""
        return sum(
            length_us / each.every_us
            for place, each in self._all()
            if (length_us := self._length(place, each)) <= self._poll_us
        )

    def _all(self) -> list[tuple[Place, Punctuator]]:
        parts = enumerate(self._parts)
        return [((n, m), each) for n, part in parts for m, each in enumerate(part.punctuators)]

    def _length(self, place: Place, each: Punctuator) -> float:
        """Of its call in all tasks. Stream time stands still where no records come."""
        tasks = self._thread.processes(place[0])
        if each.is_of_stream:
            tasks = [task for task in tasks if self._thread.has_records(task)]
        return each.takes_us * len(tasks)

    def _plan(self, place: Place, due_us: int) -> None:
        self._due[place] = due_us
        self._port.call(due_us, self._rang, (place, due_us))

    def _rang(self, rings: tuple[Place, int]) -> None:
        place, due_us = rings
        if not self._thread.processes(place[0]):
            del self._due[place]
            return
        free_us = self._thread.free_at()
        if free_us > self._port.now:
            self._port.call(free_us, self._rang, rings)
            return
        each = self._parts[place[0]].punctuators[place[1]]
        length_us = int(self._length(place, each))
        if length_us > self._poll_us:
            self._thread.punctuate(length_us)
        ended_us = self._port.now + length_us
        missed = max(0, ended_us - due_us) // each.every_us
        self._plan(place, due_us + (missed + 1) * each.every_us)
