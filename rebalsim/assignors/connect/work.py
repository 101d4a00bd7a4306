"""What Connect hands out: connectors and tasks, and the order in which a worker's list of them
reaches the leader.

The order matters: where load is evened out, work is taken from the front of the list that a worker
claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rebalsim.domain.java_hash import copied_set_capacity, hash_ordered, string_hash


class Task(NamedTuple):
    """One task of a connector. Sorts as Connect does: by connector, then by number."""

    connector: str
    number: int

    def __str__(self) -> str:
        return f"{self.connector}-{self.number}"


def task_named(text: str) -> Task:
    """`orders-sink-3` as a task; a ValueError where no number follows the last hyphen."""
    connector, _, number = text.rpartition("-")
    return Task(connector, int(number))


@dataclass(frozen=True, slots=True)
class Work:
    """Connectors and tasks, each in an order that counts."""

    connectors: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.connectors or self.tasks)

    def without(self, other: Work) -> Work:
        """This work less the other one's, in the same order."""
        connectors, tasks = set(other.connectors), set(other.tasks)
        return Work(
            tuple(c for c in self.connectors if c not in connectors),
            tuple(t for t in self.tasks if t not in tasks),
        )

    def within(self, other: Work) -> Work:
        """What of this work the other one has too, in this one's order."""
        connectors, tasks = set(other.connectors), set(other.tasks)
        return Work(
            tuple(c for c in self.connectors if c in connectors),
            tuple(t for t in self.tasks if t in tasks),
        )

    def then(self, other: Work) -> Work:
        """This work, then what the other one has beside it."""
        return Work(
            tuple(dict.fromkeys(self.connectors + other.connectors)),
            tuple(dict.fromkeys(self.tasks + other.tasks)),
        )

    def names(self) -> list[str]:
        return [*self.connectors, *map(str, self.tasks)]


NO_WORK = Work()


def configured(tasks_of: Mapping[str, int]) -> Work:
    """All work of a configuration (connector → number of tasks), sorted."""
    return Work(
        tuple(sorted(tasks_of)),
        tuple(Task(c, n) for c in sorted(tasks_of) for n in range(tasks_of[c])),
    )


def as_transmitted(work: Work) -> Work:
    """The order in which a list of work is read after its way over the wire.

    It is written connector by connector: first those that are themselves listed, in Java's hash
    order of their names, then those of which only tasks are; so tasks come grouped.
    """
    names = hash_ordered(work.connectors, string_hash, copied_set_capacity(len(work.connectors)))
    groups: dict[str, list[Task]] = {name: [] for name in names}
    for task in work.tasks:
        groups.setdefault(task.connector, []).append(task)
    return Work(tuple(names), tuple(task for group in groups.values() for task in group))


def all_of(works: Iterable[Work]) -> Work:
    """The union, in order of appearance."""
    connectors: dict[str, None] = {}
    tasks: dict[Task, None] = {}
    for work in works:
        connectors.update(dict.fromkeys(work.connectors))
        tasks.update(dict.fromkeys(work.tasks))
    return Work(tuple(connectors), tuple(tasks))
