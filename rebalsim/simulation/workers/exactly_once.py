"""The part of a worker's port that exactly-once sources need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rebalsim.assignors.connect.work import Task


class ExactlyOncePort:
    """Through its herder to the leader, and through the brokers to other copies' producers."""

    herder: Any
    cluster: Any

    def ask_fencing(self, connector: str, done: Callable[[str], None]) -> None:
        self.herder.fencing.request(connector, done)

    def shut_out(self, connector: str, generation: int) -> None:
        self.cluster.shut_out(lambda t: t.task.connector == connector and t.generation < generation)

    def shut_out_copies(self, copy: Any) -> None:
        self.cluster.shut_out(lambda other: other.task == copy.task and other is not copy)

    def ask_whether_wanted(self, task: Task, done: Callable[[int], None]) -> None:
        self.herder.ask(lambda: done(self.herder.newest_of(task)))

    def lose_task(self, task: Task) -> None:
        self.herder.runner.fail(task)
