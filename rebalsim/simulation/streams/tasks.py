"""One task at one thread, and where its state stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rebalsim.assignors.streams.tasks import TaskId


class Phase(Enum):
    """Kafka's Task.State, with where a task waits between two of them."""

    CREATED = "created"  # to be opened by the stream thread
    RESTORING = "restoring"  # at the state updater
    RESTORED = "restored"  # handed back, to be taken up by the stream thread
    RUNNING = "running"
    SUSPENDED = "suspended"
    CORRUPTED = "corrupted"  # found so by the state updater: to be wiped and restored anew


@dataclass(slots=True)
class Task:
    """`position` is how far its state is in the changelog; a standby that follows is at its end."""

    task: TaskId
    active: bool
    stateful: bool
    position: int = 0
    phase: Phase = Phase.CREATED
    opened: bool = False
    follows: bool = False
    checkpoint: int = 0  # what is on disk for it
    ran: bool = False  # before it was suspended
    is_beyond_end: bool = False  # its restoration begins after the last record: that fails
    retry_us: int = 0  # its directory was locked: not to be tried before
    attempts: int = 0
