"""One task at one thread, and where its state stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NewType

from rebalsim.assignors.streams.tasks import TaskId

PhaseName = NewType("PhaseName", str)


class Phase:
    """Kafka's Task.State, with where a task waits between two of them. It is no `Enum`: a thread asks
    for these thousands of times in a run, and Python 3.11 takes ten times as long to look up a
    member of one.
    """

    CREATED: Final = PhaseName("created")  # to be opened by the stream thread
    RESTORING: Final = PhaseName("restoring")  # at the state updater
    RESTORED: Final = PhaseName("restored")  # handed back, to be taken up by the stream thread
    RUNNING: Final = PhaseName("running")
    SUSPENDED: Final = PhaseName("suspended")
    CORRUPTED: Final = PhaseName("corrupted")  # so found by the state updater: to be wiped


UNREADY = frozenset((Phase.CREATED, Phase.RESTORING, Phase.RESTORED, Phase.CORRUPTED))
WAITING = frozenset((Phase.CREATED, Phase.RESTORED, Phase.CORRUPTED))  # for a turn of the thread


@dataclass(slots=True)
class Task:
    """`position` is how far its state is in the changelog; a standby that follows is at its end."""

    task: TaskId
    active: bool
    stateful: bool
    position: int = 0
    phase: PhaseName = Phase.CREATED
    opened: bool = False
    follows: bool = False
    checkpoint: int = 0  # what is on disk for it
    ran: bool = False  # before it was suspended
    is_beyond_end: bool = False  # its restoration begins after the last record: that fails
    retry_us: int = 0  # its directory was locked: not to be tried before
    attempts: int = 0
