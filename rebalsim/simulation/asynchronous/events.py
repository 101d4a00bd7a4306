"""What passes between the two threads of an asynchronous consumer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebalsim.domain.ids import Partition


class PollEvent:
    """AsyncPollEvent: what one pass of poll() asks of the background thread."""

    __slots__ = ("asks", "at_us", "deadline_us", "hidden", "is_complete", "is_fresh", "validates")

    def __init__(self, at_us: int, deadline_us: int) -> None:
        self.at_us = at_us
        self.deadline_us = deadline_us
        self.is_complete = False
        self.is_fresh = (
            True  # just handed over: the application's pass goes on before anything of it is done
        )
        self.asks = False  # it had to ask for committed offsets
        self.validates = False  # it had to validate positions
        self.hidden = (
            0  # for so many looks of the application it does not seem complete, though it is
        )


Then = Callable[[bool], None]


@dataclass(slots=True)
class Removed:
    """The application shall run onPartitionsRevoked or onPartitionsLost, then `then` goes on (it
    is told whether the callback failed).
    """

    callback: str
    partitions: tuple[Partition, ...]
    then: Then


@dataclass(slots=True)
class Assigned:
    """The application shall have the assignment applied and run onPartitionsAssigned."""

    partitions: tuple[Partition, ...]
    added: tuple[Partition, ...]
    then: Then


@dataclass(slots=True)
class Done:
    """The application did so."""

    then: Then
    error: bool
    acts_us: int = 0  # the background thread comes to it no sooner
