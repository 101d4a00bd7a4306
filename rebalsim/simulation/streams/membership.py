"""What a stream thread's main consumer is in its group, under either protocol: what the thread's
loop asks of it.
"""

from __future__ import annotations

from typing import Protocol

from rebalsim.simulation.streams.port import Steps


class Member(Protocol):
    """The consumer as the thread's loop drives it. `pass_of_poll` is one pass within poll(): what
    has to be done there is done, taking its time.
    """

    is_rebalancing: bool  # commits on the interval are held back
    is_ready: bool  # not: the thread polls and processes nothing
    generation: int

    @property
    def acts_at_once(self) -> bool:
        """In the midst of a poll, or only when one begins."""
        ...

    @property
    def rests(self) -> bool:
        """Its beats, and the thread's commits, are worked out when something comes up."""
        ...

    def begin(self) -> None: ...

    def has_work(self) -> bool: ...

    def pass_of_poll(self) -> Steps: ...

    def request_rejoin(self, why: str) -> None: ...

    def close(self, leave: bool) -> None: ...

    def commit(self) -> None: ...

    def vanish(self) -> None: ...

    def freeze(self) -> None: ...

    def thaw(self) -> None: ...

    def held_up(self) -> None:
        """The thread comes to no poll() for a while."""
        ...

    def polled(self) -> None: ...

    def come_to_rest(self) -> None: ...

    def end_rest(self) -> None: ...

    def healed(self) -> None: ...

    def topics_changed(self, *, is_gone: bool) -> None: ...
