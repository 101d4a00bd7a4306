"""Tasks of a Kafka Streams application by their names: sub-topology and partition."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rebalsim.domain.errors import InputError
from rebalsim.domain.java_hash import signed


class TaskId(NamedTuple):
    """A sub-topology and a partition of its sources; sorts as Kafka's does."""

    subtopology: int
    number: int

    def __str__(self) -> str:
        return f"{self.subtopology}_{self.number}"


@lru_cache(maxsize=1 << 16)
def task_named(text: str) -> TaskId:
    """`0_3` as a task."""
    subtopology, _, number = text.partition("_")
    if not (subtopology.isdecimal() and number.isdecimal()):
        raise InputError(f"'{text}' is no task — write sub-topology and partition, as in 0_3")
    return TaskId(int(subtopology), int(number))


def task_hash(task: TaskId) -> int:
    """`TaskId.hashCode` of the client's tasks."""
    return signed(29791 + 961 * task.subtopology + 31 * task.number)
