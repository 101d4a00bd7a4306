"""What a consumer reads from: one owned partition, one Fetch in flight, and what one brought."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.ids import Partition
from rebalsim.simulation.engine import NEVER
from rebalsim.simulation.flow import Flow

RESTORING, INITIAL, RESETTING, VALIDATING, FETCHING = -1, 0, 1, 2, 3


class Share:
    """One owned partition as its owner reads it."""

    __slots__ = (
        "broker",
        "call",
        "counted",
        "fetched",
        "flow",
        "is_behind",
        "is_new",
        "is_waiting",
        "leased_us",
        "offset",
        "partition",
        "state",
        "told",
    )

    def __init__(self, partition: Partition, flow: Flow, broker: int) -> None:
        self.partition = partition
        self.flow = flow
        self.broker = broker
        self.state = INITIAL
        self.offset = 0  # the next record to hand over
        self.fetched = 0  # the next record to fetch
        self.is_new = True  # nothing was handed over yet
        self.is_behind = True  # its lag, as last told, is not over
        self.is_waiting = False  # its records lie behind a backlog of others, and that was told
        self.call: Any = None  # the look-up that is under way
        self.counted = -1  # up to which record its bytes are told; −1 before it has a position
        self.told = 0
        self.leased_us = (
            -1
        )  # since when its leader has it read from a follower; −1: it is read from the leader

    @property
    def is_placed(self) -> bool:
        """Is it known where to read?"""
        return self.state >= VALIDATING


class Fetched:
    """A partition's part of an answer that is not handed over yet, or only in part: `count`
    records from `first` on are left.
    """

    __slots__ = ("began_at", "count", "first", "share")

    def __init__(self, share: Share, first: int, count: int) -> None:
        self.share = share
        self.first = self.began_at = first
        self.count = count

    @property
    def is_begun(self) -> bool:
        return self.first > self.began_at


class Fetch:
    """A Fetch in flight: what it asks for, when the broker answers it, and what that brings."""

    __slots__ = (
        "arrives_us",
        "asked",
        "broker",
        "elsewhere",
        "firsts",
        "got",
        "is_answered",
        "is_void",
        "lands_us",
        "leaves_us",
        "life",
        "parked_us",
    )

    def __init__(self, broker: int, life: int, shares: list[Share]) -> None:
        self.broker = broker
        self.life = life
        self.asked = [(share, share.fetched) for share in shares]  # each with its first record
        self.firsts: list[Share] = []  # those that have brought nothing so far
        self.arrives_us = 0  # when it reaches the broker
        self.parked_us = NEVER  # when the broker took it up
        self.leaves_us = self.lands_us = 0  # its answer, as things are
        self.is_answered = False
        self.is_void = False  # what it brings is out of date before it is there
        self.got: list[tuple[Share, int, int]] = []  # share, first record, how many
        self.elsewhere: list[Share] = []  # what the broker leads, and has read from a follower

    @property
    def is_parked(self) -> bool:
        """Does it wait at the broker for what is yet to come?"""
        return all(share.flow.when(first) >= self.leaves_us for share, first in self.asked)
