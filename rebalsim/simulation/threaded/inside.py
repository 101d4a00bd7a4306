"""What the parts of a client with a thread of its own see of the whole, in a file below them."""

from __future__ import annotations

from typing import Protocol

from rebalsim.simulation.inside import Inside


class ThreadedInside(Inside, Protocol):
    """A consumer whose library runs a thread of its own, as its parts see it."""

    began_us: int
    is_in_poll: bool

    def drop_calls(self, *apis: str) -> None: ...
    def pause(self) -> None: ...
    def wake_application(self) -> None: ...
