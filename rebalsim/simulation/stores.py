"""Local state that follows the partitions: what is left of it on a machine, what has to be restored
of it, and a restore that goes on in the background.

A machine keeps what was there when the partition went (at a clean stop or a hand-over) or at the
last checkpoint before its process was killed. What the partition's state has changed by since then
is restored, and all of it where nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rebalsim.domain.ids import Partition
from rebalsim.domain.restored_from import RestoredFrom
from rebalsim.simulation.engine import APP, Engine
from rebalsim.simulation.shares import INITIAL, RESTORING, Share
from rebalsim.trace.streams_events import StoreRestored

_LOOKS_AGAIN_US = 100_000  # at whether a frozen process goes on


class Stores:
    """All machines' stores, by the name of the consumer that is there and the partition."""

    def __init__(self, engine: Engine, tell: Callable[[Any], None]) -> None:
        self.engine = engine
        self.tell = tell
        self._left_us: dict[tuple[str, Partition], int] = {}  # up to when what is there is whole
        self._whole_us: dict[tuple[str, Partition], int] = {}  # in use: since when it is whole
        self._busy: dict[str, tuple[int, int]] = {}  # who restores: which life, and until when

    def takes_us(self, consumer: Any, partitions: Iterable[Partition]) -> int:
        """What restoring these takes in the callback; they are in use when it is over."""
        state = consumer.spec.state
        if not state.restore_bytes_per_second or state.where != "callback":
            return 0
        each = [self._restore_us(consumer, p) for p in partitions]
        whole_us = self.engine.now + sum(each)
        for p in partitions:
            self._whole_us[consumer.name, p] = int(whole_us)
        return int(sum(each))

    def _restore_us(self, consumer: Any, partition: Partition) -> float:
        per_second: float = consumer.spec.state.restore_bytes_per_second
        return self._missing(consumer, partition) / per_second * 1e6

    def _missing(self, consumer: Any, partition: Partition) -> float:
        """How many bytes of it are to be restored."""
        state = consumer.spec.state
        size = state.bytes_per_partition
        if self._is_there(consumer, partition):
            away_us = self.engine.now - self._left_us[consumer.name, partition]
            size = min(size, state.changes_bytes_per_second * away_us / 1e6)
        return float(size * (1 - state.standby_share))

    def _is_there(self, consumer: Any, partition: Partition) -> bool:
        """Is something left of it on the machine that the new process can go on from?"""
        is_kept = consumer.spec.state.survives == "restart"
        return is_kept and (consumer.name, partition) in self._left_us

    def exited(self, consumer: Any, is_clean: bool) -> None:
        """The process is gone, with all that it had in use."""
        if consumer.spec.state.bytes_per_partition:
            mine = [p for name, p in self._whole_us if name == consumer.name]
            self.given_up(consumer, mine, is_clean)

    def given_up(self, consumer: Any, partitions: Iterable[Partition], is_clean: bool) -> None:
        """They are another's now, or nobody's: what stays on the disk."""
        now, state = self.engine.now, consumer.spec.state
        for p in partitions:
            whole_us = self._whole_us.pop((consumer.name, p), None)
            if whole_us is None:
                continue
            if whole_us > now:  # it was not restored yet
                self._left_us.pop((consumer.name, p), None)
                continue
            lost_us = (now - whole_us) % state.checkpoint_us if state.checkpoint_us else 0
            self._left_us[consumer.name, p] = now if is_clean else now - lost_us

    def restore(self, consumer: Any, partitions: Iterable[Partition]) -> None:
        """In the background, one after the other: each is read when it is restored."""
        state = consumer.spec.state
        if state.where != "background" or not state.restore_bytes_per_second:
            return
        life, until_us = self._busy.get(consumer.name, (consumer.life, 0))
        begins_us = float(max(self.engine.now, until_us if life == consumer.life else 0))
        for p in partitions:
            share = consumer.feed.shares.get(p)
            if share is None:
                continue
            how = RestoredFrom.CHECKPOINT if self._is_there(consumer, p) else RestoredFrom.SCRATCH
            size, began_us = int(self._missing(consumer, p)), int(begins_us)
            begins_us += self._restore_us(consumer, p)
            self._whole_us[consumer.name, p] = int(begins_us)
            if begins_us > self.engine.now:
                share.state = RESTORING
                told = StoreRestored(0, consumer.name, str(p), (p,), began_us, 0, size, how)
                due = (consumer, consumer.life, share, told)
                self.engine.at(int(begins_us), consumer.rank + APP, self._restored, due)
        self._busy[consumer.name] = (consumer.life, int(begins_us))

    def _restored(self, due: tuple[Any, int, Share, StoreRestored]) -> None:
        consumer, life, share, told = due
        if consumer.life != life or consumer.feed.shares.get(share.partition) is not share:
            return
        if not consumer.is_alive or share.state != RESTORING:
            return
        if consumer.is_frozen:
            later_us = self.engine.now + _LOOKS_AGAIN_US
            self._whole_us[consumer.name, share.partition] = later_us
            self.engine.at(later_us, consumer.rank + APP, self._restored, due)
            return
        share.state = INITIAL
        told.at_us = self.engine.now
        self.tell(told)
        consumer.positions.look_again()
