"""A worker's lines: what is wrong with its machine's is wrong with those of its sinks' consumers."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.draws import Draw
from rebalsim.simulation.link_trouble import LinkTrouble
from rebalsim.trace.events import LinkCut, LinkHealed


class WorkerLinkTrouble(LinkTrouble):
    """The worker's own, and its sink tasks' with them. A cut from the group's coordinator alone is
    no matter of the sinks, whose groups have others.
    """

    __slots__ = ("_struck", "_worker")

    def __init__(self, worker: Any) -> None:
        super().__init__(worker)
        self._worker = worker
        self._struck: list[Any] = []  # consumers that suffer now

    def cut(self, from_all: bool) -> None:
        super().cut(from_all)
        if from_all:
            self._struck = self._worker.sink_consumers()
            for consumer in self._struck:
                if not consumer.link_trouble.is_cut_from_some:
                    consumer.tell(LinkCut(self._worker.now, consumer.name, True))
                consumer.link_trouble.cut(True)

    def heal(self, from_all: bool) -> None:
        super().heal(from_all)
        if from_all:
            struck, self._struck = self._struck, []
            for consumer in struck:
                consumer.link_trouble.heal(True)
                if consumer.is_alive and not consumer.link_trouble.is_cut_from_some:
                    consumer.tell(LinkHealed(self._worker.now, consumer.name))

    def slow_down(self, extra: Draw) -> None:
        super().slow_down(extra)
        self._struck = self._worker.sink_consumers()
        for consumer in self._struck:
            consumer.link_trouble.slow_down(extra)

    def speed_up(self, extra: Draw) -> None:
        super().speed_up(extra)
        struck, self._struck = self._struck, []
        for consumer in struck:
            consumer.link_trouble.speed_up(extra)
