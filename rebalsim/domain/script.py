"""The script: what is done to the world, and when. One frozen class per action; the simulation's
faults room carries them out.

An action happens at a time (`at_us`), or after another one (`after` names its id; `at_us` is
then the delay), or once a condition holds (`when`; `at_us` is then the earliest moment). It may
repeat: `times` in all, `every_us` apart, each shifted by up to `jitter_us`.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.connect import Connector
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.deed import Deed
from rebalsim.domain.draws import NOTHING, Draw
from rebalsim.domain.habits import NEWEST, BrokerHabits
from rebalsim.domain.pods import Looks
from rebalsim.domain.streams import StreamsConfig


@dataclass(frozen=True, slots=True)
class Overlay:
    """Settings that a deploy puts on the consumers it restarts: the whole resolved consumer by
    name.
    """

    consumers: tuple[Consumer, ...] = ()
    streams: StreamsConfig | None = None  # what a Streams application's instances come back with


@dataclass(frozen=True, slots=True)
class Join(Deed):
    """New consumers start, one after another `stagger_us` apart."""

    consumers: tuple[Consumer, ...]
    stagger_us: int = 0


@dataclass(frozen=True, slots=True)
class Scale(Deed):
    """Bring the group to `to` consumers: `joiners` start in order as needed; surplus ones stop,
    the last started first.
    """

    group: str
    to: int
    joiners: tuple[Consumer, ...] = ()
    stagger_us: int = 0


@dataclass(frozen=True, slots=True)
class Leave(Deed):
    """Consumers stop gracefully: stop time, close(), exit. `option` is Java's close option:
    default, leave or remain.
    """

    consumers: tuple[str, ...]
    stagger_us: int = 0
    option: str = "default"


@dataclass(frozen=True, slots=True)
class Crash(Deed):
    """Processes die at once (SIGKILL); with `restart_after_us` they are started again that much
    later, `loop` times in all.
    """

    consumers: tuple[str, ...]
    restart_after: Draw | None = None
    loses_volume: bool = False  # Kafka Streams: its state directory is gone, too


@dataclass(frozen=True, slots=True)
class Freeze(Deed):
    """A long GC pause or a suspended machine: nothing of the process runs, its connections stay."""

    consumers: tuple[str, ...]
    for_: Draw = NOTHING


@dataclass(frozen=True, slots=True)
class Hang(Deed):
    """The handler gets stuck for a while after the batch at hand; the heartbeat thread goes on."""

    consumers: tuple[str, ...]
    for_: Draw = NOTHING


@dataclass(frozen=True, slots=True)
class Poison(Deed):
    """A record whose handling hangs whoever gets it; uncommitted, it travels to the next owner.
    `offset` None: the next to arrive.
    """

    topic: str
    partition: int
    offset: int | None
    for_: Draw
    times: int | None = None  # how many deliveries hang before it is skipped; None: every one
    throws: bool = False  # … and then its handling throws an exception


@dataclass(frozen=True, slots=True)
class Slow(Deed):
    """The handler takes `factor` times as long for a while."""

    consumers: tuple[str, ...]
    factor: float
    for_us: int


@dataclass(frozen=True, slots=True)
class RollingBounce(Deed):
    """Restart consumers a few at a time, as a Deployment (surge, new names) or a StatefulSet (in
    order, same names) does.

    `consumers` is in bounce order. Each is stopped gracefully, is `down` away (None: its own start
    time alone), and counts as ready
    `ready_after_us` after it was started or, with `ready_when_assigned`, once it has its
    partitions; then `settle_us` passes before the next.
    Consumers of one process (Consumer.process) go and come together and count as one for
    max_unavailable and surge.
    `surge_consumers`, if any, are the replacements with new names, one for each of `consumers` in
    the same order, which start in their
    stead (a Deployment's pods); up to `surge` of them are started before an old one is stopped.
    `deploy` holds the settings that the restarted ones come back with; for the others they hold
    from their next restart on.
    """

    consumers: tuple[str, ...]
    max_unavailable: int = 1
    surge: int = 0
    surge_consumers: tuple[Consumer, ...] = ()
    down: Draw | None = None
    ready_after_us: int = 0
    ready_when_assigned: bool = False
    settle_us: int = 0
    deploy: Overlay = Overlay()
    readiness: Looks | None = None  # in place of ready_after_us, where a probe says it
    deadline_us: int = 0  # so long without a pod that gets ready is told of; nothing else happens


@dataclass(frozen=True, slots=True)
class Cut(Deed):
    """The network between consumers and their coordinator (or all brokers) is cut, and heals."""

    consumers: tuple[str, ...]
    from_all_brokers: bool
    for_: Draw


@dataclass(frozen=True, slots=True)
class Delay(Deed):
    """One-way latency between consumers and brokers grows by `extra` for a while."""

    consumers: tuple[str, ...]
    extra: Draw
    for_us: int


@dataclass(frozen=True, slots=True)
class BrokerRestart(Deed):
    """A broker goes down and comes back; its partitions' leaders (and groups it coordinates) move
    meanwhile, and then return.

    Without a broker it is the one that coordinates `group` by then.
    """

    broker: int | None
    down: Draw
    load: Draw = NOTHING
    group: str = ""


@dataclass(frozen=True, slots=True)
class BrokerBusy(Deed):
    """A broker is under other load for a while: half of `wait` a request lies in its queue before it
    is served, and half its answer before it is sent. Without a broker it is the one that coordinates
    `group` by then.
    """

    broker: int | None
    wait: Draw
    for_us: int
    group: str = ""


@dataclass(frozen=True, slots=True)
class BrokerUpgrade(Deed):
    """All brokers restart one after another and come back with another Kafka version."""

    kafka: str
    down: Draw
    settle_us: int
    load: Draw = NOTHING
    habits: BrokerHabits = NEWEST


@dataclass(frozen=True, slots=True)
class Failover(Deed):
    """The group's coordinator moves to another broker, which takes `load` to read the group."""

    group: str
    load: Draw = NOTHING


@dataclass(frozen=True, slots=True)
class AddPartitions(Deed):
    topic: str
    to: int


@dataclass(frozen=True, slots=True)
class CreateTopic(Deed):
    topic: str  # its definition stands among the scenario's topics with exists_from_start False


@dataclass(frozen=True, slots=True)
class DeleteTopic(Deed):
    topic: str


@dataclass(frozen=True, slots=True)
class Subscribe(Deed):
    """Consumers change their subscription."""

    consumers: tuple[str, ...]
    topics: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class EnforceRebalance(Deed):
    consumers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Heartbeat(Deed):
    """The next heartbeat is due so much later; those that follow keep its phase."""

    consumers: tuple[str, ...]
    in_us: int = 0
    late_us: int = 0  # … and leaves so much later than it is due


@dataclass(frozen=True, slots=True)
class RefreshMetadata(Deed):
    """Clients ask for their topics' metadata now."""

    consumers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetRate(Deed):
    """From now on this many records a second arrive at the topic."""

    topic: str
    per_second: float


@dataclass(frozen=True, slots=True)
class CreateConnector(Deed):
    group: str  # of the workers
    connector: Connector


@dataclass(frozen=True, slots=True)
class DeleteConnector(Deed):
    group: str
    name: str


@dataclass(frozen=True, slots=True)
class ReconfigureConnector(Deed):
    """Its config changes; `connector` is what it is like from then on."""

    group: str
    connector: Connector


@dataclass(frozen=True, slots=True)
class RestartConnector(Deed):
    """The connector and its tasks are restarted, each by the worker that has it."""

    group: str
    name: str


@dataclass(frozen=True, slots=True)
class TargetConnector(Deed):
    """It shall be started, paused or stopped."""

    group: str
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class FailTask(Deed):
    """A task's thread dies of an exception."""

    group: str
    connector: str
    number: int


@dataclass(frozen=True, slots=True)
class When:
    """A condition to wait for: `stable` (the group is Stable), `empty`, `caught-up` (its lag is
    below a second's arrivals), with a bound.
    """

    group: str
    is_: str
    for_us: int = 0  # it must have held for that long


@dataclass(frozen=True, slots=True)
class Action:
    """One entry of the script."""

    deed: Deed
    at_us: int = 0
    after: str | None = None
    when: When | None = None
    every_us: int | None = None
    times: int = 1
    jitter_us: int = 0
    id: str = ""
    line: int = 0  # where it stands in the file, 0 if nowhere

    @property
    def has_moment(self) -> bool:
        """Does it have a time of its own in the story? Not what comes after another action, or
        as soon as a condition holds.
        """
        return self.after is None and (self.when is None or self.at_us > 0)


@dataclass(frozen=True, slots=True)
class RandomFault:
    """Faults at random: each target suffers `kind` at exponential intervals of mean
    `mean_between_us`, each lasting `for_`.
    """

    kind: str  # crash | freeze | hang | cut
    consumers: tuple[str, ...]
    mean_between_us: int
    for_: Draw
    from_us: int = 0
    until_us: int | None = None
