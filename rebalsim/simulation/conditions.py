"""What an action may wait for: its group is stable, empty or caught up, and stays so for a while
from when the action is due on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rebalsim.domain.script import When
from rebalsim.protocol.states import ClassicState
from rebalsim.simulation.engine import SCRIPT

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World

SECOND = 1_000_000


class Condition:
    """One wait. It is looked at whenever something happened that could make it true."""

    __slots__ = ("_is_pending", "_since_us", "_then", "is_over", "when", "world")

    def __init__(self, world: World, when: When, then: Callable[[], None]) -> None:
        self.world = world
        self.when = when
        self._then = then
        self._since_us = -1  # since when it has held, −1 while it does not
        self._is_pending = False
        self.is_over = False

    def look(self) -> None:
        """Now true, or not any more? A look is free of effects until the wait is over, and then
        the action begins in a turn of its own.
        """
        if self.is_over:
            return
        engine = self.world.engine
        now = engine.now
        if not self.holds():
            self._since_us = -1
            return
        if self._since_us < 0:
            self._since_us = now
        due = self._since_us + self.when.for_us
        if not self._is_pending:
            self._is_pending = True
            engine.at(due, SCRIPT, self._rung)

    def _rung(self, _: None) -> None:
        self._is_pending = False
        now = self.world.engine.now
        if self.is_over or self._since_us < 0 or not self.holds():
            self.look()
        elif now < self._since_us + self.when.for_us:
            self._is_pending = True
            self.world.engine.at(self._since_us + self.when.for_us, SCRIPT, self._rung)
        else:
            self.is_over = True
            self.world.script.waiting.remove(self)
            self._then()

    def holds(self) -> bool:
        """Is it true just now?"""
        host = self.world.hosts.get(self.when.group)
        is_ = self.when.is_
        if host is None:
            return is_ == "empty"
        if is_ == "stable":
            return bool(host.is_up and host.is_stable)
        if is_ == "empty":
            return bool(
                host.group.state.value in (ClassicState.EMPTY.value, ClassicState.DEAD.value)
                and not any(self.world.living(self.when.group))
            )
        return self._has_caught_up(host)

    def _has_caught_up(self, host: Any) -> bool:
        """Its lag is below a second's arrivals, over all that its members read."""
        if not host.is_stable:
            return False
        now = self.world.engine.now
        lag = arrivals = 0.0
        is_reading = False
        for consumer in self.world.living(self.when.group):
            feed = consumer.feed
            consumed = feed.consumed() if not consumer.is_frozen else {}
            for partition, share in feed.shares.items():
                is_reading = True
                offset = consumed.get(partition)
                if offset is None:
                    return False
                lag += share.flow.count(now) - offset
                arrivals += share.flow.rate_at(now) * SECOND
        return is_reading and lag <= max(arrivals, len(host.group.members))
