"""What a consumer reads from: one owned partition, one Fetch in flight, and what one brought."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.ids import Partition
from rebalsim.simulation.flow import Flow

INITIAL, RESETTING, VALIDATING, FETCHING = 0, 1, 2, 3


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
    """A Fetch in flight, with all that its answer will bring."""

    __slots__ = ("broker", "elsewhere", "got", "is_parked", "lands_us", "life")

    def __init__(
        self,
        broker: int,
        life: int,
        got: list[tuple[Share, int, int]],
        leaves_us: int,
        lands_us: int,
    ) -> None:
        self.broker = broker
        self.lands_us = lands_us
        self.is_parked = all(
            share.flow.when(first) >= leaves_us for share, first, _ in got
        )  # nothing was there when it came
        self.life = life
        self.got = got  # share, first offset, how many
        self.elsewhere: list[Share] = []  # what the broker leads, and has read from a follower
