"""What is handed over, with a pause of everything that is owned: what was fetched is dropped,
and read again from where the application is.
"""

from __future__ import annotations

from rebalsim.simulation.feed import Feed
from rebalsim.simulation.lag import mark
from rebalsim.simulation.shares import FETCHING


class OwnFeed(Feed):
    """The consumer's data plane, which a pending callback pauses."""

    __slots__ = ()

    def resume(self, was_paused: bool) -> None:
        """Records flow again after a pause; what was under way when they stopped is out of date."""
        if not was_paused:
            return
        for fetch in self.flying.values():
            fetch.got.clear()
            fetch.is_void = True
        for share in self.shares.values():
            if share.state == FETCHING:
                share.fetched = share.offset
        mark(self.consumer, self.shares.values())
