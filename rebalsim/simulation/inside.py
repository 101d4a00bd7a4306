"""What the parts of a consumer see of the whole, in a file below them all: a part is made by its
consumer and works for it, and needs to know no more of it than this.

`Client` (in ports) is the same consumer as those see it who start, stop and disturb it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rebalsim.simulation.ports import Client

if TYPE_CHECKING:
    from rebalsim.domain.client import ClientConfig
    from rebalsim.domain.ids import Partition
    from rebalsim.simulation.engine import Alarm, Engine, Steps
    from rebalsim.simulation.randomness import Stream
    from rebalsim.simulation.shares import Fetch, Fetched, Share


class OnNetwork(Client, Protocol):
    """A consumer as those see it who carry its requests and its answers."""

    calls: dict[int, Any]  # requests under way, by number
    commits: Any
    coordinator: int | None
    inbox: list[Any]  # answers that no thread has read yet
    is_looking_up: bool
    member: Any  # the protocol's view of it

    def call(self, api: str, request: Any, handle: Any) -> Any: ...
    def send(self, call: Any, reason: str = "") -> None: ...
    def answered(self, call: Any) -> None: ...
    def fetched(self, fetch: Fetch) -> None: ...
    def take_coordinator(self, broker: int) -> None: ...


class Inside(OnNetwork, Protocol):
    """A consumer as its own parts see it."""

    alarm: Alarm
    assignors: Any
    blocked_until_us: int
    busy_until_us: int
    client_id: str
    coordinator_link: Any
    deadline_us: int
    feed: Any
    group_topics: tuple[str, ...]
    hang_us: int
    heartbeat: Any
    host: Any  # its group's coordinator
    is_closing: bool
    is_committing: bool
    is_handling: bool
    is_polling: bool
    membership: Any
    positions: Any
    skipped: Any
    stop_option: str
    thrown: int
    topics: tuple[str, ...]
    unavailable_us: dict[int, int]

    # requests and answers
    def send_late(self, call: Any) -> None: ...
    def beat_answered(self, call: Any, response: Any) -> None: ...
    def looked_up(self, lookup: Any) -> None: ...
    def read(self) -> None: ...
    def read_once(self) -> None: ...
    def _incoming(self) -> None: ...
    def work_us(self) -> int: ...
    def watch_expiry(self, call: Any) -> None: ...

    # its coordinator and its group
    def look_up_coordinator(self) -> None: ...
    def lose_coordinator(self, why: str) -> None: ...
    def lose_again(self) -> None: ...
    def knows_coordinator(self) -> bool: ...
    def is_awaiting_coordinator(self) -> bool: ...
    def leave_group(self, reason: str) -> None: ...
    def heard_by_sync(self) -> None: ...
    def resolve_pattern(self) -> None: ...

    # its threads
    def sleep(self, until_us: int) -> Steps: ...
    def wait(self, until_us: int) -> Steps: ...
    def is_back(self, is_in_poll: bool, beat_due_us: int) -> None: ...
    def is_rested(self) -> bool: ...
    def waits_to_join(self) -> bool: ...
    def wakes_at(self, now: int) -> int: ...

    # chance
    def jitter(self) -> float: ...
    def stream(self, name: str) -> Stream: ...


class FeedInside(Protocol):
    """What a consumer reads, as those see it who read for it."""

    buffer: list[Fetched]
    config: ClientConfig
    consumer: Any
    engine: Engine
    flying: dict[int, Fetch]
    is_suspended: bool
    per_batch_us: float
    per_record_us: float
    shares: dict[Partition, Share]
