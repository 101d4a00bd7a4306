"""Workers' loads while a round is worked out: giving work to whoever has least, and taking it
where one has too much.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from rebalsim.assignors.connect.work import Task, Work

T = TypeVar("T", bound=Hashable)
Items = dict[T, None]  # a set that keeps its order


@dataclass(slots=True)
class Load:
    """What a worker will have after the round; changed in place while the round is worked out."""

    worker: str
    connectors: Items[str] = field(default_factory=dict)
    tasks: Items[Task] = field(default_factory=dict)

    @classmethod
    def of(cls, worker: str, work: Work) -> Load:
        return cls(worker, dict.fromkeys(work.connectors), dict.fromkeys(work.tasks))

    def __bool__(self) -> bool:
        return bool(self.connectors or self.tasks)

    def drop(self, work: Work) -> None:
        for connector in work.connectors:
            self.connectors.pop(connector, None)
        for task in work.tasks:
            self.tasks.pop(task, None)

    def work(self) -> Work:
        return Work(tuple(self.connectors), tuple(self.tasks))


def give_out(loads: Sequence[Load], work: Work) -> None:
    """New work to whoever has least: connectors first, then tasks; connectors do not count for
    tasks.
    """
    _deal([(load.connectors, load.worker) for load in loads], work.connectors)
    _deal([(load.tasks, load.worker) for load in loads], work.tasks)


def _deal(sets: Iterable[tuple[Items[T], str]], items: Sequence[T]) -> None:
    """In turns: one each to all who stand no higher than the first did when the turn began."""
    stacks = [items for items, _ in sorted(sets, key=lambda pair: (len(pair[0]), pair[1]))]
    left = iter(items)
    remaining = len(items)
    while remaining:
        lowest = len(stacks[0])
        for stack in stacks:
            if len(stack) > lowest or not remaining:
                break
            stack[next(left)] = None
            remaining -= 1


def surplus(loads: Sequence[Load], everything: Work) -> dict[str, Work]:
    """What workers must give up so that nobody runs more than its even share of all that is
    configured, by worker.
    """
    if not everything or not any(loads):
        return {}
    connectors = _over([(x.worker, x.connectors) for x in loads], len(everything.connectors))
    tasks = _over([(x.worker, x.tasks) for x in loads], len(everything.tasks))
    return {
        load.worker: Work(connectors.get(load.worker, ()), tasks.get(load.worker, ()))
        for load in loads
        if load.worker in connectors or load.worker in tasks
    }


def _over(sets: Sequence[tuple[str, Items[T]]], total: int) -> dict[str, tuple[T, ...]]:
    """Per worker the front of its list beyond its share; the first ones in order keep the extra
    ones that do not divide evenly.
    """
    low, extra = divmod(total, len(sets))
    at_low = sum(len(items) == low for _, items in sets)
    one_more = sum(len(items) == low + 1 for _, items in sets)
    if one_more == extra and at_low + one_more == len(sets):
        return {}
    over: dict[str, tuple[T, ...]] = {}
    extras = 0
    for worker, items in sets:
        if len(items) <= low:
            continue
        limit = low
        if extras < extra:
            extras += 1
            limit = low + 1
            if len(items) == limit:
                continue
        over[worker] = tuple(items)[: len(items) - limit]
    return over
