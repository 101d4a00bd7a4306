"""ConsumerGroupHeartbeat (KIP-848): the one request by which a member joins, lives, acknowledges
and leaves, and its answer.

Durations are integer microseconds; partitions go by topic id, as on the wire. Nobody changes a
message after it was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebalsim.protocol.errors_of_kafka import Error

JOINS = 0  # member epochs with a meaning of their own
LEAVES = -1
LEAVES_FOR_A_WHILE = -2  # a static member that means to come back

UNCHANGED = -1  # a rebalance timeout that is as it was


@dataclass(slots=True)
class ConsumerGroupHeartbeatRequest:
    """A field that is None (or UNCHANGED) is as the coordinator knows it; the owned partitions
    acknowledge what was revoked.
    """

    member_id: str
    epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_us: int = UNCHANGED
    topics: Sequence[str] | None = None  # subscribed names
    regex: str | None = None  # subscribed regular expression, "" takes it back
    assignor: str | None = None
    owned: Mapping[str, Sequence[int]] | None = None  # topic id → partitions
    client_id: str = ""

    @property
    def is_plain(self) -> bool:
        """Does it say nothing but that its member lives?"""
        return (
            self.epoch > JOINS
            and self.rebalance_timeout_us == UNCHANGED
            and self.topics is None
            and self.regex is None
            and self.owned is None
        )

    @property
    def is_full(self) -> bool:
        """Everything was sent, as after an error: the answer then brings the assignment even if
        it is the old one.
        """
        return (
            self.rebalance_timeout_us != UNCHANGED
            and (self.topics is not None or self.regex is not None)
            and self.owned is not None
        )


@dataclass(slots=True)
class ConsumerGroupHeartbeatResponse:
    """What the member may hold from now on; without an assignment it is as before. After an
    error only that and its text count.
    """

    error: Error
    member_id: str = ""
    epoch: int = 0
    heartbeat_interval_us: int = 0
    assignment: dict[str, tuple[int, ...]] | None = None  # topic id → partitions, ascending
    text: str = ""

    @property
    def generation(self) -> int:
        """The epoch, by the name that traces have for it under either protocol."""
        return self.epoch
