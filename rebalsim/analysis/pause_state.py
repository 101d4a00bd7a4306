"""What the pass that finds pauses knows of each consumer and each group while it walks the
trace.
"""

from __future__ import annotations

from rebalsim.analysis.values import Pause
from rebalsim.domain.ids import Partition
from rebalsim.trace.trace import ConsumerFacts

UNKNOWN_CONSUMER = ConsumerFacts(group="")


class ConsumerState:
    """What the search for pauses knows of one consumer."""

    __slots__ = (
        "awaits",
        "callback",
        "callback_event",
        "callback_us",
        "committed_event",
        "committed_us",
        "group",
        "halted",
        "holds",
        "is_assigned",
        "is_auto_commit",
        "is_worker",
        "joined_us",
        "max_poll_us",
        "name",
        "noticed_us",
        "returned_event",
        "returned_us",
    )

    def __init__(self, name: str, group: GroupState, facts: ConsumerFacts) -> None:
        self.name = name
        self.group = group
        self.is_auto_commit = facts.is_auto_commit is not False
        self.is_worker = facts.is_worker
        self.max_poll_us = facts.max_poll_interval_us
        self.awaits = facts.awaits
        self.is_assigned = False  # it was assigned something, if only nothing, in this life
        self.holds: dict[Partition, int] = {}  # partition → number of the callback that brought it
        self.halted = ""  # froze | stuck | cut, until it returns
        self.committed_us = self.noticed_us = self.joined_us = self.returned_us = -1
        self.committed_event = self.returned_event = -1
        self.callback = ""
        self.callback_us = self.callback_event = -1


class GroupState:
    """What the search for pauses knows of one group's partitions."""

    __slots__ = ("configured", "name", "open", "owner", "ready", "resumed", "taker")

    def __init__(self, name: str) -> None:
        self.name = name
        self.configured: dict[str, int] = {}  # Connect: how many tasks a connector has now
        self.owner: dict[Partition, str] = {}  # who was assigned it last, empty once revoked
        self.taker: dict[Partition, str] = {}  # who takes its records now
        self.open: dict[Partition, Pause] = {}
        self.ready: dict[Partition, tuple[int, int]] = {}
        # when its owner went on with others of its partitions, and may come to this one
        self.resumed: dict[Partition, tuple[int, int]] = {}

    def is_there(self, p: Partition) -> bool:
        """Is it still something to make progress on? A task that is configured no longer is not."""
        return p.number < self.configured.get(p.topic, p.number + 1)
