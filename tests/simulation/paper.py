"""A consumer made of paper: what the parts of a client see of their consumer and of its world, as far
as they ask for it. The clock is the engine's own; brokers answer as the test says, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from rebalsim.domain.client import ClientConfig
from rebalsim.domain.commit_style import CommitStyle
from rebalsim.domain.consumer import Handler
from rebalsim.domain.draws import constantly
from rebalsim.domain.habits import JAVA
from rebalsim.domain.ids import Partition
from rebalsim.domain.machine import PROMPT
from rebalsim.protocol.classic_member import ClassicMember, MemberState
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.simulation.engine import Engine

SECOND = 1_000_000
DAY = 86_400 * SECOND


@dataclass
class PaperFlow:
    """A record every `every_us`, from the beginning on."""

    every_us: int = 10_000
    is_flowing_since: int = 0
    backlog: int = 0

    def count(self, at_us: int) -> int:
        return at_us // self.every_us

    def when(self, number: int) -> int:
        return (number + 1) * self.every_us


@dataclass
class PaperStream:
    """A die that always falls on the same side."""

    side: float = 0.0

    def unit(self) -> float:
        return self.side

    def draw(self, what: Any) -> int:
        return 0


class PaperWorld:
    """The run, as a client's parts ask it."""

    is_wire = False
    drive = None

    def __init__(self, engine: Engine, tell: Callable[[Any], None]) -> None:
        self.engine, self.tell = engine, tell
        self.epochs: set[str] = set()  # topics whose positions are validated
        self.begun: list[Partition] = []
        self.poisons: Any = SimpleNamespace(by_partition={})
        self.progress = SimpleNamespace(begin=lambda group, p, feed, share: self.begun.append(p))
        self.brokers = SimpleNamespace(
            of=lambda broker: SimpleNamespace(put=lambda then, value: then(value))
        )

    def has_leader_epochs(self, topic: str) -> bool:
        return topic in self.epochs

    def handled(self, partition: Partition, group: str) -> tuple[int, bool]:
        return 0, False


@dataclass
class PaperLink:
    """A connection on which everything takes a millisecond each way."""

    is_cut: bool = False
    busy_us: int = 0

    def turn(self, now_us: int) -> int:
        return now_us + 1_000

    def latency_us(self, now_us: int) -> int:
        return 1_000


@dataclass
class PaperCall:
    """A request that was sent, and when."""

    api: str
    request: Any
    handle: Callable[[Any, Any], None]
    sent_us: int
    sent_generation: int
    sent_member_id: str
    is_quiet: bool = False
    is_before_rebalance: bool = False

    def answer(self, error: Error = Error.NONE, **more: Any) -> None:
        self.handle(self, SimpleNamespace(error=error, **more))


class PaperConsumer:
    """A member of generation 1 whose application sits in poll() until the test says otherwise.
    `answers` says how a broker answers a request; None: not at all.
    """

    def __init__(self, *, commit: str = "auto", **config: Any) -> None:
        self.engine = Engine()
        self.name, self.group, self.rank, self.life = "c0", "g", 8, 1
        self.config = ClientConfig(**config)
        handler = Handler(
            per_record=constantly(1_000), per_batch=constantly(5_000), commit=CommitStyle(commit)
        )
        self.spec: Any = SimpleNamespace(handler=handler, commits_itself=commit == "auto")
        self.habits, self.machine = JAVA, PROMPT
        self.slowness = 1.0
        self.skipped = None
        self.told: list[Any] = []
        self.world = PaperWorld(self.engine, self.told.append)
        self.member = ClassicMember(None, is_cooperative=True)
        self.member.member_id, self.member.generation = "m", 1
        self.member.state, self.member.needs_rejoin = MemberState.STABLE, False
        self.answers: Callable[[PaperCall], Error | None] = lambda call: Error.NONE
        self.coordinator: int | None = 0
        self.links: dict[int, PaperLink] = {}
        self.is_polling, self.is_committing = True, False
        self.is_frozen, self.is_looking_up = False, False
        self.busy_until_us, self.blocked_until_us, self.deadline_us = DAY, 0, DAY
        self.inbox: list[Any] = []
        self.sent: list[PaperCall] = []
        self.left: list[tuple[int, str]] = []
        self.lost: list[tuple[int, str]] = []
        self.committed: dict[Partition, int] = {}
        self.looked_up: Callable[[Any], None] = self.told.append  # who reads a leader's answer
        self.expelled: list[Error] = []
        self.look_ups = 0
        self.heartbeat: Any = SimpleNamespace(late_us=0, is_enabled=False)
        self.feed: Any = SimpleNamespace(consumed=lambda: {Partition("t", 0): 5}, shares={})
        self.membership = SimpleNamespace(
            commit_disowned=self.expelled.append,
            commit_fenced=self.expelled.append,
            find_coordinator=self._find_coordinator,
        )

    # ------------------------------------------------------------------------ what the parts ask for

    def stream(self, purpose: str) -> PaperStream:
        return PaperStream()

    def jitter(self) -> float:
        return 1.0

    def tell(self, event: Any) -> None:
        self.told.append(event)

    def call(self, api: str, request: Any, handle: Callable[[Any, Any], None]) -> PaperCall:
        member = self.member
        return PaperCall(api, request, handle, self.now, member.generation, member.member_id)

    def send(self, call: PaperCall) -> None:
        self.sent.append(call)
        error = self.answers(call)
        if error is not None:
            call.answer(error, offsets=self.committed)

    def lose_coordinator(self, why: str) -> None:
        self.coordinator = None
        self.lost.append((self.now, why))

    def look_up_coordinator(self) -> None:
        self.look_ups += 1

    def leave_group(self, why: str) -> None:
        self.left.append((self.now, why))
        self.member.state = MemberState.UNJOINED

    def read_once(self) -> None:
        self.inbox.pop(0)

    def link(self, broker: int) -> PaperLink:
        return self.links.setdefault(broker, PaperLink())

    def work_us(self) -> int:
        return 0

    def wake_for_business(self) -> None:
        """It sits in poll() and looks by itself."""

    def _incoming(self) -> None:
        """A disconnect wakes a poll(), of which there is none here."""

    def _find_coordinator(self, until_us: int) -> Generator[Any, Any, bool]:
        yield from ()
        self.coordinator = 0
        return True

    def wait(self, until_us: int) -> Generator[Any, Any, None]:
        yield until_us

    def sleep(self, until_us: int) -> Generator[Any, Any, None]:
        yield until_us

    # ------------------------------------------------------------------------- what the test turns

    @property
    def now(self) -> int:
        return self.engine.now

    def go_on(self, until_us: int) -> None:
        """Time passes up to and with this instant."""
        self.engine.run_to(until_us + 1)

    def of(self, api: str) -> list[int]:
        """When requests of this kind were sent."""
        return [call.sent_us for call in self.sent if call.api == api]

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.told]


def result_of(consumer: PaperConsumer, steps: Generator[Any, Any, Any]) -> Any:
    """What a call of the client comes to; each time that it waits, the clock goes to where it waits
    for at the most.
    """
    while True:
        try:
            until_us = next(steps)
        except StopIteration as end:
            return end.value
        consumer.go_on(until_us)
