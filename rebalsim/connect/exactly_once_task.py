"""A source's task under exactly.once.source.support=enabled: before its start() the former set's
producers are shut out, its own producer begins, which shuts out any other copy of it, and it makes
sure that it is still wanted (ExactlyOnceWorkerSourceTask).
"""

from __future__ import annotations

from typing import Any

from rebalsim.assignors.connect.work import Task
from rebalsim.connect.port import Port
from rebalsim.connect.source_task import SourceTask
from rebalsim.domain.connect import Connector


class ExactlyOnceTask(SourceTask):
    """One copy of a task, with a transactional producer."""

    def __init__(
        self, port: Port, task: Task, connector: Connector, is_paused: bool, generation: int
    ) -> None:
        self.generation = generation  # of the set of task configs that it belongs to
        super().__init__(port, task, connector, is_paused)

    def _begin(self) -> None:
        self.port.ask_fencing(self.connector.name, self._cleared)

    def _cleared(self, error: str) -> None:
        port = self.port
        if error:
            port.at(port.now, self._dies)
        else:
            port.at(port.now, self._makes_producer)

    def _makes_producer(self, _: Any) -> None:
        if self.is_ended:
            return
        if self.done is not None:  # asked to stop meanwhile: it does not begin
            self._ended(None)
            return
        port = self.port
        took = port.draw("begin-producer", port.costs.begin_producer)
        port.at(port.now + took, self._producer_began)

    def _producer_began(self, _: Any) -> None:
        """Any other copy's producer with this transactional id is shut out."""
        port = self.port
        port.shut_out_copies(self)
        port.read_config_to_end(lambda: port.ask_whether_wanted(self.task, self._checked))

    def _checked(self, generation: int) -> None:
        """The herder has looked: which set of task configs is the newest, −1 if the task is not
        its worker's any more.
        """
        then = self._enter if generation == self.generation else self._dies
        self.port.at(self.port.now, then)

    def _enter(self, _: Any = None) -> None:
        if self.is_ended:
            return
        if self.done is not None:
            self._ended(None)
        else:
            super()._enter()

    def shut_out(self) -> None:
        """Its producer is fenced: it dies when it next sends, a frozen one when it is thawed. One
        that is stopping sends nothing more, and takes its time.
        """
        poll_us = max(1, self.port.draw(f"poll/{self.task}", self.connector.poll))

        def sends(_: Any) -> None:
            if self.done is None:
                self._dies(None)

        self.port.at(self.port.now + poll_us, sends)

    def _dies(self, _: Any) -> None:
        if self.is_ended or self.is_failed:
            return
        if self.done is not None:
            self._ended(None)
        else:
            self.port.lose_task(self.task)
