"""An application played from its beginning to a horizon: who starts, stops, dies when; out come the
happenings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from rebalsim.assignors.streams import leader
from rebalsim.assignors.streams.leader import LeaderAnswer, ThreadShare
from rebalsim.assignors.streams.process import ThreadClaim
from rebalsim.assignors.streams.tasks import TaskId, Topology
from rebalsim.assignors.streams.versions import Spoken
from rebalsim.domain.ids import Partition
from rebalsim.protocol.effects import Note
from rebalsim.simulation.streams.application import Application, ThreadSettings
from rebalsim.simulation.streams.arrivals import arrivals_of
from rebalsim.simulation.streams.brokers import Brokers
from rebalsim.simulation.streams.changelogs import Progresses
from rebalsim.simulation.streams.classic_member import ClassicMember
from rebalsim.simulation.streams.happenings import AssignmentMade, Happening, Heard, LagTurned
from rebalsim.simulation.streams.hosts import ClassicHost, StreamsHost
from rebalsim.simulation.streams.instance import Instance
from rebalsim.simulation.streams.known_loop import Recorded
from rebalsim.simulation.streams.poisons import Poison, Poisons
from rebalsim.simulation.streams.port import EnginePort
from rebalsim.simulation.streams.repartitions import Repartitions
from rebalsim.simulation.streams.stream_thread import StreamThread
from rebalsim.simulation.streams.streams_member import StreamsMember
from rebalsim.simulation.streams.topics import Seen, Topics

OLD_ASSIGNOR = "streams-legacy-sticky"  # of clients of 2.3
Deed = Literal["start", "stop", "kill", "freeze", "thaw", "hang", "lose-disk"]


@dataclass(frozen=True, slots=True)
class Act:
    """Something is done to an instance. A start has settings, and may say when each thread's
    first request leaves; `length_us` is a hang's.
    """

    at_us: int
    deed: Deed
    instance: str
    settings: ThreadSettings | None = None
    first_request_us: Mapping[int, int] = field(default_factory=dict)
    length_us: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """What a recording knows and chance would draw: process ids by instance and life, member ids
    by client id in order, threads' loops by instance, life and thread.
    """

    processes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    loops: Mapping[tuple[str, int, int], Recorded] = field(default_factory=dict)


@dataclass(slots=True)
class Played:
    """What happened, and the tasks there were."""

    application: Application
    topology: Topology
    happenings: list[Happening]
    horizon_us: int


def play(
    application: Application,
    acts: Sequence[Act],
    horizon_us: int,
    seed: int = 1,
    known: Known | None = None,
) -> Played:
    """Everything up to the horizon."""
    world = StreamsWorld(application, known or Known(), seed)
    for act in acts:
        world.port.call(act.at_us, world.do, act)
    world.port.run_to(horizon_us)
    return Played(application, world.topology, world.port.told, horizon_us)


def _with_drawn_looks(application: Application, port: EnginePort) -> Application:
    """Chance has when the coordinator looks for transactions whose time is over."""
    group = application.group
    drawn = port.draw("transaction coordinator").random()
    looks = replace(group, abort_looks_us=int(drawn * group.abort_check_us))
    return replace(application, group=looks)


class StreamsWorld:
    """The application's coordinator, its instances, and what is done to them."""

    def __init__(self, application: Application, known: Known, seed: int) -> None:
        self.port = EnginePort(seed)
        application = self._application = _with_drawn_looks(application, self.port)
        self._known = known
        self.topics = Topics(application)
        self.topology = self.topics.topology
        self._progresses = Progresses(application, self.topology, marked=self._lag_turned)
        self._repartitions = Repartitions(self.port, application, self._progresses, self._flowed)
        self._instances: dict[str, Instance] = {}
        self._unstable: dict[TaskId, int] = {}
        self._members = {client: list(ids) for client, ids in known.members.items()}
        self._seats = 0  # threads so far
        self._classic: ClassicHost | None = None
        self._streams: StreamsHost | None = None
        self.threads: dict[str, tuple[str, int]] = {}  # client, static or member id → thread
        self._poisons: Poisons | None = None
        self.brokers: Brokers | None = None  # a recording has one that nothing happens to

    def do(self, act: Act) -> None:
        """Carry out an act."""
        instance = self.instance(act.instance)
        if act.deed == "start":
            instance.start(act.settings or ThreadSettings(), dict(act.first_request_us))
        elif act.deed == "stop":
            instance.close()
        elif act.deed == "kill":
            instance.kill()
        elif act.deed == "freeze":
            instance.freeze()
        elif act.deed == "thaw":
            instance.thaw()
        elif act.deed == "hang":
            instance.hang(act.length_us)
        else:
            instance.lose_disk()

    def instance(self, name: str) -> Instance:
        found = self._instances.get(name)
        if found is None:
            processes = list(self._known.processes.get(name, ()))
            found = self._instances[name] = Instance(
                self.port,
                self._application,
                self.topology,
                self._progresses,
                name,
                processes,
                self._make_thread,
                self._unstable,
                self._known.loops,
            )
            if self._poisons is not None:
                found.when_runs = self._poisons.met
        return found

    def threads_of(self, name: str) -> int:
        """How many threads an instance has now, or had when it last ran; 0 if it never did."""
        instance = self._instances.get(name)
        return instance.started_with if instance is not None else 0

    def _make_thread(
        self, instance: Instance, number: int, settings: ThreadSettings
    ) -> StreamThread:
        self._seats += 1
        thread = StreamThread(self.port, instance, number, settings, self._seats)
        client = f"{instance.name}-StreamThread-{number}-consumer"
        self.threads[client] = (instance.name, number)
        if settings.group_protocol == "streams":
            if self._streams is None:
                self._streams = StreamsHost(self.port, self._application, self._is_classic)
                self._streams.topics.update(self._application.topics)
                self._place(self._streams)
                self._streams.noted.append(self._noted)
            member_id = self._streams_id(client)
            self.threads[member_id] = (instance.name, number)
            thread.member = StreamsMember(
                self.port, self._streams, thread, client, settings, member_id
            )
        else:
            if self._classic is None:
                self._classic = ClassicHost(
                    self.port, self._application, self._members, self._is_streams
                )
                self._place(self._classic)
                self._classic.noted.append(self._noted)
            static = f"{settings.instance_id}-{number}" if settings.instance_id else None
            if static is not None:
                self.threads[static] = (instance.name, number)
            thread.member = ClassicMember(
                self.port, self._classic, thread, client, settings, static, self._lead
            )
        return thread

    def _place(self, host: ClassicHost | StreamsHost) -> None:
        if self.brokers is not None:
            self.brokers.add(host)

    def poison(self, poison: Poison) -> None:
        """The record is there: whoever handles it gets stuck."""
        if self._poisons is None:
            self._poisons = Poisons(self.port)
        for instance in self._instances.values():
            instance.when_runs = self._poisons.met
        threads = [t for i in self._instances.values() for t in i.threads if i.is_up]
        self._poisons.add(poison, next((t for t in threads if t.handles(poison.task)), None))

    def come(self, partition: Partition) -> tuple[float, float]:
        """How many records came into the partition so far, and how many come in a second."""
        arrivals = arrivals_of([self._application.flow_in(partition)])
        return arrivals.come(self.port.now), arrivals.rate(self.port.now)

    def set_rate(self, topic: str, per_second: float) -> None:
        """So many records a second arrive at the topic from now on."""
        self._commit_made_up()
        self.topics.set_rate(topic, per_second, self.port.now)
        self._repartitions.outside_turned(topic)
        self._progresses.follow(self.topology)
        self._plan_anew()

    def _plan_anew(self) -> None:
        """Records come otherwise from now on."""
        for instance in self._instances.values():
            for thread in instance.threads:
                thread.processing.plan()
        self._progresses.mark_all(self.port.now)

    def _flowed(self, topics: list[str]) -> None:
        """Records of the application's own come otherwise from now on."""
        inputs = self.topology.inputs
        reading = {t: None for t, of in inputs.items() if any(p.topic in topics for p in of)}
        threads = [
            thread
            for instance in self._instances.values()
            for thread in (instance.threads if instance.is_up else ())
            if not reading.keys().isdisjoint(thread.tasks)
        ]
        for thread in threads:
            if thread.member.rests:
                thread.commit_made_up()
        self._progresses.flow(self.topology, reading)
        for thread in threads:
            thread.processing.plan(records_turn=True)

    def _commit_made_up(self) -> None:
        """What members that rest have committed until now."""
        for instance in self._instances.values():
            for thread in instance.threads if instance.is_up else ():
                if thread.member.rests:
                    thread.commit_made_up()

    def _lag_turned(self, task: TaskId, at_us: int, records: float) -> None:
        self.port.tell(LagTurned(at_us, task, records))

    def mark_end(self) -> None:
        """How far behind every task is when it all ends, and what was committed by then."""
        self._commit_made_up()
        self._progresses.mark_all(self.port.now)

    def set_partitions(self, topic: str, count: int, per_second: float) -> None:
        """The topic has so many partitions from now on (0: it is gone). The brokers' coordinator
        sees it at once, a classic group's leader when it refreshes its metadata.
        """
        now = self.port.now
        self.topics.set_partitions(topic, count, per_second, now)
        self._repartitions.outside_turned(topic)
        self.topology = self.topics.topology
        self._progresses.follow(self.topology)
        self._plan_anew()
        self.port.tell(Heard(now, "", 0, "TopicChanged", {"topic": topic, "partitions": count}))
        for instance in self._instances.values():
            instance.topology = self.topology
        if self._streams is not None:
            self._streams.topics_are(self._application.topics)
        if any(topic in part.sources for part in self._application.parts):
            for instance in self._instances.values():
                for thread in instance.threads:
                    thread.member.topics_changed(is_gone=not count)

    def _is_classic(self) -> bool:
        """Whether the group has members of the classic protocol."""
        return self._classic is not None and bool(self._classic.group.members)

    def _is_streams(self) -> bool:
        """Whether it has members of the streams protocol."""
        return self._streams is not None and bool(self._streams.group.members)

    def _streams_id(self, client: str) -> str:
        known = self._members.get(client)
        if known:
            return known.pop(0)
        return f"{self.port.draw(f'member id of {client}').getrandbits(128):032x}"

    def _noted(self, note: Note) -> None:
        """What the coordinator did, with consumers instead of member ids."""
        facts = dict(note.facts)
        for key in ("member_id", "last", "leader"):
            if isinstance(facts.get(key), str):
                facts[key] = self._thread_of(facts[key]) or facts[key]
        if "kicked" in facts:
            facts["kicked"] = tuple(self._thread_of(each) or each for each in facts["kicked"])
        ids = {"id": note.facts["member_id"]} if "member_id" in note.facts else {}
        self.port.tell(Heard(self.port.now, "", 0, note.kind, {**facts, **ids}))

    def _thread_of(self, member_id: str) -> tuple[str, int] | None:
        return self.threads.get(member_id) or self.threads.get(member_id[:-37])

    def _lead(
        self, claims: list[ThreadClaim], spoken: Mapping[str, Spoken], member: ClassicMember
    ) -> LeaderAnswer | None:
        """What the leader's assignor decides, with the changelogs' ends as they are now; None where
        it ends the leader.
        """
        now = self.port.now
        settings = self._application.assigning
        seen = self.topics.seen(member.metadata.as_of_us)
        if seen.error == "MissingSourceTopicException":
            return _ended(seen, claims)
        if seen.error:
            member.fail(seen.why, seen.error)
            return None
        answer = leader.assign_across_versions(
            lambda read: self._assigned(read, member),
            self.topology,
            claims,
            spoken,
            member.member_id,
        )
        copies: dict[TaskId, int] = {}
        for _, standby in answer.decided.values():
            for task in sorted(standby):
                copies[task] = copies.get(task, 0) + 1
        extra = [t for t, count in sorted(copies.items()) if count > settings.num_standby_replicas]
        self.port.tell(
            AssignmentMade(now, member.generation, answer.probing, answer.is_stable, tuple(extra))
        )
        return answer

    def _assigned(self, claims: Sequence[ThreadClaim], member: ClassicMember) -> LeaderAnswer:
        now = self.port.now
        topology = self.topics.seen(member.metadata.as_of_us).topology
        ends = {task: self._progresses.end(task, now) for task in topology.changelogs}
        return leader.assign(
            OLD_ASSIGNOR if member.is_old else self._application.assignor,
            topology,
            claims,
            leader=member.process,
            now_ms=now // 1000,
            settings=self._application.assigning,
            end_offset_sums=ends,
            replica_racks=self._application.replica_racks,
        )


def _ended(seen: Seen, claims: Sequence[ThreadClaim]) -> LeaderAnswer:
    """Nobody gets anything but the reason to end."""
    shares = {claim.member_id: ThreadShare((), (), (), None, error=seen.error) for claim in claims}
    return LeaderAnswer({}, False, False, shares)
