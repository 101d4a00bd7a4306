"""How a worker's deeds are told in a trace: to the group's analysis a task is what a partition is
to a consumer, named by its connector and its number.
"""

from __future__ import annotations

from collections.abc import Iterable

from rebalsim.assignors.connect.work import Task
from rebalsim.connect.port import Port
from rebalsim.domain.ids import Partition
from rebalsim.trace.events import CallbackBegan, CallbackEnded, RecordsDelivered


def as_partitions(tasks: Iterable[Task]) -> tuple[Partition, ...]:
    return tuple(sorted(Partition(task.connector, task.number) for task in tasks))


def began(port: Port, callback: str, tasks: Iterable[Task]) -> None:
    """Tasks are being stopped (revoked, lost) or were handed over (assigned)."""
    port.record(CallbackBegan(port.now, port.name, callback, as_partitions(tasks)))


def ended(port: Port, callback: str, tasks: Iterable[Task]) -> None:
    port.record(CallbackEnded(port.now, port.name, callback, as_partitions(tasks)))


def works(port: Port, task: Task) -> None:
    """The task's first poll."""
    port.record(
        RecordsDelivered(port.now, port.name, {Partition(task.connector, task.number): (0, 0, -1)})
    )
