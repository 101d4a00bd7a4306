"""Small groups under a bare clock: 1 ms each way, 5 ms for a write, timers that are never late, all
connections open.

What Kafka's specification calls its reference traces, and most edge cases, are told with these
figures. Times are in seconds from a zero of the test's own: at 0.001 the members that were there
before had the answer to their last JoinGroup.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.commit_style import CommitStyle
from rebalsim.domain.consumer import Consumer, Handler
from rebalsim.domain.draws import constantly
from rebalsim.domain.ids import Partition
from rebalsim.domain.instants import MS, SECOND
from rebalsim.domain.machine import PROMPT
from rebalsim.domain.scenario import Cluster, Group, Link, Network, RateStep, Scenario, Topic
from rebalsim.simulation.drive import Drive, Life, Strike
from rebalsim.simulation.world import World
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.trace import Trace

ZERO_US = 10 * SECOND
DELAY_US = 3 * SECOND
IDLE = Handler(poll_timeout_us=100 * MS, commit=CommitStyle.NONE)
CONFIG = ClientConfig(
    partition_assignment_strategy=("range",),
    enable_auto_commit=False,
    fetch_max_wait_us=1,
    auto_offset_reset="earliest",
)


def member(
    name: str, topics: tuple[str, ...] = ("t",), handler: Handler = IDLE, **config: Any
) -> Consumer:
    """A consumer that sits in poll() and commits nothing."""
    spec = Consumer(name, "g", config=replace(CONFIG, **config), topics=topics, handler=handler)
    return spec


@dataclass
class Told:
    """A trace with the questions that tests ask it. Times in seconds of the test's own zero, to
    the millisecond.
    """

    trace: Trace
    world: World

    @property
    def events(self) -> list[TraceEvent]:
        return self.trace.events

    def of(self, kind: type, **facts: Any) -> Iterator[Any]:
        return (
            e
            for e in self.events
            if type(e) is kind and all(getattr(e, name) == value for name, value in facts.items())
        )

    def times(self, kind: type, **facts: Any) -> list[float]:
        return [round((e.at_us - ZERO_US) / SECOND, 3) for e in self.of(kind, **facts)]

    def after(self, since: float, kind: type, **facts: Any) -> float:
        """When it happened for the first time since then."""
        found = [at for at in self.times(kind, **facts) if at >= since]
        assert found, f"no {kind.__name__} {facts} since {since}"
        return found[0]

    def callbacks(self, consumer: str, since: float = -100.0) -> list[tuple[float, str, str]]:
        """(when, which, partitions' numbers) of the callbacks that had any."""
        return [
            (
                round((e.at_us - ZERO_US) / SECOND, 3),
                e.callback,
                ",".join(str(p.number) for p in e.partitions),
            )
            for e in self.of(ev.CallbackBegan, consumer=consumer)
            if e.partitions and e.at_us >= ZERO_US + since * SECOND
        ]

    def barriers(self, since: float = -100.0) -> list[tuple[float, int]]:
        """(when, generation) of the rounds."""
        return [
            (round((e.at_us - ZERO_US) / SECOND, 3), e.generation)
            for e in self.of(ev.BarrierCompleted)
            if e.at_us >= ZERO_US + since * SECOND
        ]

    def first_records(self, consumer: str, since: float) -> float:
        return self.after(since, ev.RecordsDelivered, consumer=consumer)


def play_group(
    members: tuple[Consumer, ...],
    joins: dict[str, float],
    until: float,
    *,
    deeds: tuple[tuple[float, str, str, int], ...] = (),
    later: tuple[tuple[Consumer, float], ...] = (),
    partitions: int = 6,
    rate: float = 0.0,
    backlog: int = 50,
    delay: float = 3.0,
    committed: bool = True,
    wire: bool = False,
    links: tuple[Link, ...] = (),
    **broker: Any,
) -> Told:
    """Play consumers that send their first JoinGroup at these times (the test's seconds); `deeds`:
    (at, what, to whom, argument in µs).

    `later` are further lives: another process of a consumer, or of one that was not there before.
    """
    everybody = {spec.name: spec for spec in members}
    for spec, _ in later:
        everybody.setdefault(spec.name, spec)
    cluster = Cluster(
        config=BrokerConfig(
            group_initial_rebalance_delay_us=round(delay * SECOND),
            group_min_session_timeout_us=1 * SECOND,
            **broker,
        ),
        network=Network(constantly(1 * MS), links=links),
        log_append=constantly(5 * MS),
    )
    scenario = Scenario(
        topics=(
            Topic("t", partitions, (RateStep(0, rate * partitions),), backlog=backlog),
            Topic("u", partitions, (RateStep(0, rate * partitions),), backlog=backlog),
        ),
        groups=(Group("g", tuple(everybody.values())),),
        cluster=cluster,
        machine=PROMPT,
        horizon_us=us(until),
    )
    lives = [Life(spec, us(joins[spec.name])) for spec in members if spec.name in joins] + [
        Life(spec, us(at)) for spec, at in later
    ]
    drive = Drive(
        lives,
        [Strike(us(at), what, who, argument) for at, what, who, argument in deeds],
        is_connected=True,
    )
    world = World(scenario, 1, is_wire=wire, drive=drive)
    if committed:
        group = world.hosts["g"].group
        for number in range(partitions):
            for topic in ("t", "u"):
                group.offsets[Partition(topic, number)] = group.persisted_offsets[
                    Partition(topic, number)
                ] = 0
    return Told(world.play(), world)


def us(at: float) -> int:
    return ZERO_US + round(at * SECOND)


def settled(*members: Consumer) -> dict[str, float]:
    """First JoinGroups such that all of these have the answer to the last one at 0.001: the
    first added 6 s before, the others later.
    """
    return {spec.name: -6.003 + 0.3 * i for i, spec in enumerate(members)}
