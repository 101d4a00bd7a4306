"""A Connect worker's process in the simulated world: started, stopped, killed and frozen like any
consumer's, and the port through which the connect room's threads see the world.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rebalsim.assignors.connect.work import Task
from rebalsim.connect.config_state import ConfigState, Record
from rebalsim.connect.exactly_once_task import ExactlyOnceTask
from rebalsim.connect.herder import Herder
from rebalsim.connect.port import Running
from rebalsim.connect.source_task import SourceTask
from rebalsim.domain.connect import SINK, Connector
from rebalsim.domain.consumer import Consumer as Spec
from rebalsim.domain.draws import Draw
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.life_end import LifeEnd
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import FindCoordinatorRequest
from rebalsim.simulation.engine import APP, FIRST, RANKS, SCRIPT
from rebalsim.simulation.network import DISCONNECTED, Call, Link
from rebalsim.simulation.workers.exactly_once import ExactlyOncePort
from rebalsim.simulation.workers.link_trouble import WorkerLinkTrouble
from rebalsim.simulation.workers.nothing import NoConsumer, NoFeed, NoMetadata
from rebalsim.simulation.workers.sink_task import SinkTask
from rebalsim.simulation.workers.thread import WorkerThread
from rebalsim.trace.events import (
    CloseBegan,
    CloseEnded,
    ConsumerExited,
    ConsumerFroze,
    ConsumerStarted,
    ConsumerThawed,
    CoordinatorFound,
    CoordinatorLost,
    PollingBegan,
    RequestSent,
    ResponseReceived,
    StopAsked,
)

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World

TOLD = (KafkaApi.JOIN, KafkaApi.SYNC)


class Worker(NoConsumer, ExactlyOncePort):
    """One worker, through all its lives."""

    def __init__(self, world: World, spec: Spec, index: int) -> None:
        self.world = world
        self.engine = world.engine
        self.machine = world.machine
        self.index = index
        self.name = spec.name
        self.group = spec.group
        self.rank = FIRST + RANKS * index
        self.tell = world.tell
        self.life = 0
        self.is_alive = self.is_frozen = self.is_stopping = False
        self.is_assigned = False  # has it been through a round in this life?
        self.begun_us = -1  # when it was up in this life
        self.how_ended = ""
        self.slowness = 1.0
        self.driven: Any = None
        self.feed, self.metadata = NoFeed(), NoMetadata()
        self.link_trouble = WorkerLinkTrouble(self)
        self.coordinator: int | None = None
        self.coordinator_link: Link | None = None
        self.sinks: dict[str, list[Any]] = {}  # task → its consumers in this worker, over time
        self.running: list[Running] = []
        self.take_spec(spec)

    def take_spec(self, spec: Spec) -> None:
        """The settings of the next life."""
        assert spec.worker is not None
        self.spec = spec
        self.habits = spec.habits
        self.settings = spec.worker
        self.costs = self.machine.workers
        self.config = spec.config
        self.rack = spec.rack
        self.topics = spec.topics

    # ------------------------------------------------------------------------------- life and death

    def begin(self, joins_us: int | None = None) -> None:
        """A process starts; its herder's thread begins when it has started up."""
        now = self.engine.now
        self.life += 1
        self.is_alive = True
        self.is_frozen = self.is_stopping = self.is_assigned = False
        self.begun_us = -1
        self.calls: dict[int, Call] = {}
        self.frost: list[Callable[[], None]] = []  # what came due while it was frozen
        self.coordinator = self.coordinator_link = None
        self.running = []
        self._links: dict[int, Link] = {}
        self.cluster = self.world.clusters[self.group]
        self.beat_late = self.machine.beat_late
        self.herder = Herder(self)
        self.tell(ConsumerStarted(now, self.name, self.life))
        starts = (
            joins_us if joins_us is not None else now + self.draw("start", self.spec.life.start)
        )
        self.at(starts, self._starts)

    def _starts(self, _: Any) -> None:
        self.begun_us = self.engine.now
        self.tell(PollingBegan(self.engine.now, self.name, self.life))
        self.cluster.joined(self)
        self.engine.begin(self.herder_loop(self.life))

    def herder_loop(self, life: int) -> Any:
        yield from self.herder.run()
        if self.life == life and self.is_alive and not self.herder.group.is_gone:
            self.tell(CloseEnded(self.engine.now, self.name))
            took = self.draw("exit", self.costs.exit)
            self.at(self.engine.now + took, lambda _: self.end(LifeEnd.CLOSED))

    def end(self, how: str, error: str = "") -> None:
        if not self.is_alive:
            return
        self.is_alive = False
        self.how_ended = how
        self.herder.group.is_gone = True
        self.herder.group.beats.stop()
        self.herder.thread.end()
        self.calls.clear()
        self.tell(ConsumerExited(self.engine.now, self.name, self.life, how, error))
        for consumer in self.sink_consumers():
            consumer.kill()
        self.world.exited(self)

    def fail(self, error: str) -> None:
        self.end(LifeEnd.FATAL, error)

    def kill(self) -> None:
        self.end(LifeEnd.KILLED)

    def stop(self, option: str = "default") -> None:
        """SIGTERM; killed when its grace is over."""
        if not self.is_alive or self.is_stopping:
            return
        self.is_stopping = True
        now = self.engine.now
        self.tell(StopAsked(now, self.name))
        self.engine.at(now + self.spec.life.grace_us, SCRIPT, self._grace_ends, self.life)
        self.at(now + self.draw("stop", self.spec.life.stop), self._stops)

    def _stops(self, _: Any) -> None:
        self.tell(CloseBegan(self.engine.now, self.name))
        self.herder.stop()

    def _grace_ends(self, life: int) -> None:
        if self.life == life:
            self.kill()

    def freeze(self) -> None:
        if not self.is_alive or self.is_frozen:
            return
        self.is_frozen = True
        self.tell(ConsumerFroze(self.engine.now, self.name))
        for consumer in self.sink_consumers():
            consumer.freeze()

    def thaw(self) -> None:
        """All threads go on with whatever came due meanwhile."""
        if not self.is_alive or not self.is_frozen:
            return
        self.is_frozen = False
        self.tell(ConsumerThawed(self.engine.now, self.name))
        for consumer in self.sink_consumers():
            consumer.thaw()
        for task in self.running:
            if isinstance(task, SourceTask):
                task.thawed()
        frost, self.frost = self.frost, []
        for due in frost:
            due()
        self.herder.thread.wake()

    def sink_consumers(self) -> list[Any]:
        return [c for copies in self.sinks.values() for c in copies if c.is_alive]

    def enforce_rebalance(self) -> None:
        if self.is_alive:
            self.herder.group.request_rejoin()
            self.herder.group.wake()

    @property
    def member(self) -> Any:
        return self.herder.group.member

    # ---------------------------------------------------------------------------------- the port: time

    @property
    def now(self) -> int:
        return self.engine.now

    def thread(self) -> WorkerThread:
        return WorkerThread(self)

    def at(self, at_us: int, then: Callable[[Any], None]) -> None:
        self.engine.at(at_us, self.rank + APP, self._due, (self.life, then))

    def compute(self, us: int, then: Callable[[Any], None]) -> None:
        shared = self.cluster.processor
        self.at(self.now + us if shared is None else shared.done_us(self.now, us), then)

    def _due(self, due: tuple[int, Callable[[Any], None]]) -> None:
        life, then = due
        if not self.is_alive or self.life != life:
            return
        if self.is_frozen:
            self.frost.append(lambda: then(None))
        else:
            then(None)

    def draw(self, purpose: str, what: Draw) -> int:
        if what.is_constant:
            return int(what.a)
        return self.world.randomness.stream(f"{purpose}/{self.name}").draw(what)

    def jitter(self) -> float:
        return self.draw("backoff", self.machine.backoff_percent) / 100

    def record(self, event: Any) -> None:
        if hasattr(event, "group") and not event.group:
            event.group = self.group
        self.tell(event)

    # ------------------------------------------------------------------------- the port: coordinator

    def has_coordinator(self) -> bool:
        return self.coordinator is not None

    def look_up_coordinator(self, then: Callable[[bool], None]) -> None:
        def found(call: Call, response: Any) -> None:
            is_found = response.error is Error.NONE
            if is_found:
                self.coordinator = response.broker
                self.coordinator_link = self.link_trouble.fit(
                    self.world.connect(self, response.broker, "coordinator"),
                    True,
                )
                self.tell(CoordinatorFound(self.now, self.name, response.broker))
            then(is_found)

        call = self._call(KafkaApi.FIND_COORDINATOR, FindCoordinatorRequest(self.group), found)
        call.expires_us = self.now + self.settings.request_timeout_us
        self._keep_until_answered(call)
        self.link(self.world.bootstrap).up(call, self.world.receive)

    def _call(self, api: str, request: Any, handle: Any) -> Call:
        call = Call(
            self,  # type: ignore[arg-type]
            api,
            self.world.next_number(),
            request,
            handle,
            self.now,
            self.coordinator or 0,
        )
        call.sent_generation, call.sent_member_id = self.member.generation, self.member.member_id
        return call

    def send(self, api: str, request: Any, then: Callable[[Any, Any], None], reason: str) -> Call:
        call = self._call(api, request, then)
        call.is_quiet = api == KafkaApi.HEARTBEAT
        call.expires_us = self.now + self.settings.request_timeout_us
        if self.world.is_wire or api in TOLD:
            call.told = self.world.next_told()
            self.tell(
                RequestSent(self.now, self.name, api, call.told, call.sent_generation, reason)
            )
        link = self.coordinator_link
        if self.coordinator is None or link is None:
            self.at(self.now, lambda _: then(call, DISCONNECTED))
            return call
        self._keep_until_answered(call)
        work = self.machine.rebalance_work
        link.up(
            call,
            self.world.host_of(self.group).receive,
            self.draw("work", work) if api in TOLD else 0,
        )
        return call

    def _keep_until_answered(self, call: Call) -> None:
        self.calls[call.number] = call

        def look(_: Any) -> None:
            if self.calls.get(call.number) is not call:
                return
            if call.expires_us > self.now:
                self.at(call.expires_us, look)
            elif call.api == KafkaApi.FIND_COORDINATOR:
                del self.calls[call.number]
                call.handle(call, DISCONNECTED)
            else:
                self.lose_coordinator("request timed out")

        self.at(call.expires_us, look)

    def answered(self, call: Call) -> None:
        """An answer came; a frozen process reads it when it thaws."""
        if call.life != self.life or not self.is_alive or self.calls.get(call.number) is not call:
            return
        if self.is_frozen:
            self.frost.append(lambda: self.answered(call))
            return
        del self.calls[call.number]
        if call.told >= 0:
            error: Error = call.response.error
            self.tell(
                ResponseReceived(
                    self.now,
                    self.name,
                    call.api,
                    call.told,
                    "" if error is Error.NONE else error.name,
                    getattr(call.response, "generation", -1),
                    call.sent_us,
                )
            )
        call.handle(call, call.response)

    def is_at_work(self) -> None:
        if not self.is_assigned:
            self.is_assigned = True
            self.world.script.noticed(self)

    def lose_coordinator(self, why: str) -> None:
        """Whatever is under way to it fails; its work goes on."""
        if self.coordinator is None:
            return
        self.coordinator = self.coordinator_link = None
        self.tell(CoordinatorLost(self.now, self.name, why))
        lost = [call for call in self.calls.values() if call.api != KafkaApi.FIND_COORDINATOR]
        for call in lost:
            del self.calls[call.number]
        for call in lost:
            call.handle(call, DISCONNECTED)
        self.herder.thread.wake()

    def lost_broker(self, broker: int) -> None:
        """A broker closed its connections."""
        if (link := self._links.get(broker)) is not None:
            link.is_open = False
        if self.coordinator == broker and self.is_alive:
            if self.is_frozen:
                self.frost.append(lambda: self.lose_coordinator("coordinator unavailable"))
            else:
                self.lose_coordinator("coordinator unavailable")

    def is_connected_to(self, broker: int) -> bool:
        return self.coordinator == broker or broker in self._links

    def link(self, broker: int) -> Link:
        link = self._links.get(broker)
        if link is None:
            link = self._links[broker] = self.link_trouble.fit(
                self.world.connect(self, broker, "data"),
                False,
            )
        return link

    def data_links(self) -> list[Link]:
        return list(self._links.values())

    # ------------------------------------------------------------- the port: config topic and tasks

    def config_state(self) -> ConfigState:
        state: ConfigState = self.cluster.read_by(self)
        return state

    def read_config_to_end(self, then: Callable[[], None]) -> None:
        self.cluster.read_to_end(self, then)

    def write_config(self, records: list[Record]) -> None:
        self.cluster.write(records)

    def ask_leader(self, what: Callable[[Any], None]) -> None:
        self.cluster.ask_leader(what)

    def launch(self, task: Task, connector: Connector, is_paused: bool, generation: int) -> Running:
        made: Running
        if connector.kind == SINK:
            made = SinkTask(self, task, connector, is_paused)
        elif self.settings.is_exactly_once:
            made = ExactlyOnceTask(self, task, connector, is_paused, generation)
        else:
            made = SourceTask(self, task, connector, is_paused)
        self.running.append(made)
        return made
