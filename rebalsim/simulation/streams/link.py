"""The network between an instance and the brokers: cut for a while, or slower. It is the machine's
trouble and not the process's, so that a restart does not end it.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalsim.domain.draws import Draw


class Link:
    """One instance's. What is sent while it is cut is lost, and nobody is told."""

    def __init__(self) -> None:
        self._cuts = 0  # from the coordinator
        self._cuts_from_all = 0
        self._delays: list[tuple[Draw, Callable[[Draw], int]]] = []

    @property
    def is_cut(self) -> bool:
        """Does nothing get through to the coordinator?"""
        return bool(self._cuts or self._cuts_from_all)

    @property
    def is_cut_from_all(self) -> bool:
        """Do no records come, either?"""
        return bool(self._cuts_from_all)

    def cut(self, from_all: bool) -> None:
        self._change(from_all, 1)

    def heal(self, from_all: bool) -> None:
        self._change(from_all, -1)

    def _change(self, from_all: bool, by: int) -> None:
        if from_all:
            self._cuts_from_all += by
        else:
            self._cuts += by

    def slow_down(self, extra: Draw, draw: Callable[[Draw], int]) -> None:
        """Every message takes so much longer, by a draw of its own."""
        self._delays.append((extra, draw))

    def speed_up(self, extra: Draw) -> None:
        at = next(at for at, (each, _) in enumerate(self._delays) if each == extra)
        del self._delays[at]

    def extra_us(self) -> int:
        return sum(draw(extra) for extra, draw in self._delays) if self._delays else 0
