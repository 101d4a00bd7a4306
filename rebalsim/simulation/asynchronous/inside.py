"""What the parts of a consumer of the consumer protocol see of the whole, and of the thread that
they work for, in a file below them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from rebalsim.simulation.inside import Inside

if TYPE_CHECKING:
    from rebalsim.protocol.consumer_member import ClientState, ConsumerMember
    from rebalsim.protocol.errors_of_kafka import Error
    from rebalsim.simulation.asynchronous.events import Assigned, Done, PollEvent, Removed
    from rebalsim.simulation.engine import Steps


class AsyncInside(Inside, Protocol):
    """A consumer of the consumer protocol as its own parts see it."""

    has_new_topics: bool
    is_hanging: bool
    looks_not_before_us: int
    member: ConsumerMember
    resolves_pattern: bool
    wants_to_join: bool
    woken: bool  # there is something to look at

    def answered_after(self, sent_us: int) -> None: ...
    def fail(self, error: Error) -> None: ...
    def fail_poll(self, name: str) -> None: ...
    def fetches_ahead(self) -> bool: ...
    def find_coordinator(self, broker: int) -> None: ...
    def given(self) -> None: ...
    def notice_background(self) -> None: ...
    def looks_too_early(self, event: PollEvent | None = None) -> bool: ...
    def send_so_that_it_arrives(self, call: Any, at_us: int) -> None: ...
    def step_to(self, change: Callable[[], Any], by_way_of: ClientState | None = None) -> None: ...
    def take_driven_join(self) -> int: ...
    def wait_for_background(self, until_us: int) -> Steps: ...


class Thread(Protocol):
    """The background thread as its managers see it."""

    is_closing: bool
    reconciliation: Any
    timers: Any
    told: list[Removed | Assigned]  # for the application

    def put_aside(self, event: Done, acts_after_us: int) -> None: ...
    def placed(self, events: list[PollEvent]) -> None: ...
    def come_due(self, in_us: int, late_us: int) -> None: ...
    def turn(self) -> None: ...
