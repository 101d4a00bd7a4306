"""Happenings in the words of traces, so that whatever reads a trace of consumers reads one of a
Streams application: a stream thread is a consumer, and its instance the process.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.draws import mean_of
from rebalsim.domain.ids import Partition
from rebalsim.domain.life_end import LifeEnd
from rebalsim.domain.restored_from import RestoredFrom
from rebalsim.domain.scenario import Group, Scenario
from rebalsim.domain.script import RollingBounce
from rebalsim.domain.stuck_by import StuckBy
from rebalsim.simulation.streams.application import Application
from rebalsim.simulation.streams.arrivals import Arrivals, arrivals_of
from rebalsim.simulation.streams.classic_member import COOPERATIVE, EAGER
from rebalsim.simulation.streams.happenings import (
    ApplicationStateChanged,
    AssignmentMade,
    Happening,
    Heard,
    InstanceChanged,
    LagTurned,
    Refused,
    TaskChanged,
    ThreadStateChanged,
)
from rebalsim.simulation.streams.telling_lag import LagTeller
from rebalsim.simulation.streams.topics import Topics
from rebalsim.trace import events as ev
from rebalsim.trace import streams_events as se
from rebalsim.trace.events import EVENT_CLASSES, TraceEvent
from rebalsim.trace.trace import ConsumerFacts, TopicFacts, Trace, TraceHeader

_STUCK = {
    "stuck": StuckBy.HANG,
    "poisoned": StuckBy.POISON,
    "punctuating": StuckBy.PUNCTUATOR,
    "slow": StuckBy.SLOW,
}
_OF_NO_GROUP = ("Fenced", "BrokerChanged", "TopicChanged")
_ABOUT_MEMBERS = ("member_id", "last", "leader")


def _most_threads(scenario: Scenario, threads: int) -> int:
    """The most that any instance has while the story lasts: a deploy may bring another number."""
    overlays = [
        action.deed.deploy.streams
        for action in scenario.script
        if isinstance(action.deed, RollingBounce)
    ]
    return max([threads, *(o.num_stream_threads for o in overlays if o is not None)])


class Teller:
    """Makes the trace of one run."""

    def __init__(
        self,
        scenario: Scenario,
        group: Group,
        application: Application,
        seed: int,
        shift_us: int,
    ) -> None:
        self._scenario, self._group, self._application = scenario, group, application
        self._seed, self._shift_us = seed, shift_us
        app = group.streams
        assert app is not None
        self._app = app
        self._instances = set(_specs(scenario, group))
        self._threads = _most_threads(scenario, app.config.num_stream_threads)
        self._lives: dict[str, int] = {}  # instance → the threads of its life
        self._is_new = app.config.group_protocol == "streams"
        self._holders: dict[tuple[str, int], dict[TaskId, bool]] = {}
        self._restoring: dict[tuple[str, int, TaskId], tuple[int, int, str]] = {}
        self._held: dict[tuple[str, int, TaskId], int] = {}  # by a dead owner's transaction, since
        self._arrivals: dict[str, Arrivals] = {}
        self._lags = LagTeller(group.name, self._come)
        self._died_of: dict[str, str] = {}  # instance → exception
        self._warmups: frozenset[TaskId] = frozenset()  # as the leader decided last

    def name_of(self, instance: str, thread: int) -> str:
        """The consumer: the instance itself, where it has one thread."""
        return instance if self._threads == 1 else f"{instance}.{thread}"

    # ---------------------------------------------------------------------- told while it is played

    def acted(
        self,
        told: list[Happening],
        at_us: int,
        name: str,
        kind: str,
        text: str,
        targets: tuple[tuple[str, int], ...],
    ) -> None:
        """An action of the script takes effect. Each target with the threads that it runs with: 0 if
        it never ran.
        """
        who = tuple(name for each in targets for name in self._threads_named(*each))
        facts = {"action": name, "kind": kind, "text": text, "targets": who}
        told.append(Heard(at_us, "", 0, "ScriptActed", facts))

    def _threads_named(self, target: str, threads: int) -> list[str]:
        """An instance's threads; a broker, a topic or a partition by its own name."""
        if target not in self._instances:
            return [target]
        count = threads or self._app.config.num_stream_threads
        return [self.name_of(target, number + 1) for number in range(count)]

    def asked_to_stop(self, told: list[Happening], at_us: int, instance: str) -> None:
        """A process was asked to stop."""
        told.append(InstanceChanged(at_us, instance, 0, "asked"))

    # ------------------------------------------------------------------------------------- the trace

    def trace(self, told: list[Happening], version: str, topics: Topics) -> Trace:
        """All of it, in order of time, with the topics as they became."""
        self._topology = topics.topology
        events: list[TraceEvent] = []
        for happening in told:
            how = _TOLD.get(type(happening))
            if how is not None:
                events += how(self, happening)
        horizon = self._scenario.horizon_us
        for key in list(self._restoring):
            events.append(self._restoration(key, horizon - 1, 0, RestoredFrom.GIVEN_UP))
        events.sort(key=attrgetter("at_us"))
        events = [e for e in events if e.at_us < horizon or type(e) is ev.LagMarked]
        return Trace(self._header(version, told, topics), events)

    def _header(self, version: str, told: list[Happening], topics: Topics) -> TraceHeader:
        scenario = self._scenario
        header = TraceHeader(
            rebalsim=version,
            title=scenario.title,
            variant=scenario.variant,
            heading=scenario.heading,
            kafka=scenario.cluster.kafka,
            habits=scenario.cluster.habits,
            digest=scenario.digest,
            seed=self._seed,
            horizon_us=scenario.horizon_us,
            shift_us=self._shift_us,
        )
        sizes = {topic.name: topic.record_bytes for topic in scenario.topics}
        for name in self._application.topics:
            rates = tuple((at_us, rate, False) for at_us, rate in topics.whole(name))
            growth = tuple(topics.growth.get(name, ()))
            header.topics[name] = TopicFacts(
                topics.first[name], rates, (), sizes.get(name, 1000), growth
            )
        specs = _specs(scenario, self._group)
        up = {h.instance for h in told if type(h) is InstanceChanged}
        for name, spec in specs.items():
            if name in up or spec.starts_at is not None:
                for number in range(1, self._threads + 1):
                    header.consumers[self.name_of(name, number)] = self._facts(spec, name)
        return header

    def _facts(self, spec: Any, instance: str) -> ConsumerFacts:
        config = self._app.config
        return ConsumerFacts(
            self._group.name,
            instance if self._threads > 1 else "",
            spec.rack,
            "java 2.3 Streams" if self._app.is_old else "java 4.3 Streams",
            "consumer" if self._is_new else "eager" if self._app.is_eager else "cooperative",
            () if self._is_new else (EAGER if self._app.is_eager else COOPERATIVE,),
            spec.config.group_instance_id,
            config.streams_session_timeout_us if self._is_new else spec.config.session_timeout_us,
            config.streams_heartbeat_interval_us
            if self._is_new
            else spec.config.heartbeat_interval_us,
            spec.config.max_poll_interval_us,
            config.poll_us,
            mean_of(spec.handler.per_record),
            False,
            -1,
            "sync-batch",
        )

    def _refused(self, refused: Refused) -> list[TraceEvent]:
        self._died_of[refused.instance] = refused.error
        return []

    def _application_state(self, h: ApplicationStateChanged) -> list[TraceEvent]:
        return [se.ApplicationStateChanged(h.at_us, h.instance, h.before, h.after)]

    def _lag(self, turned: LagTurned) -> list[TraceEvent]:
        return [*self._lags.told(turned, self._topology.inputs)]

    def _assignment(self, made: AssignmentMade) -> list[TraceEvent]:
        self._warmups = frozenset(made.warmups)
        if made.stable:
            return []
        warmups = tuple(str(task) for task in made.warmups)
        group = self._group.name
        return [se.TasksWithheld(made.at_us, group, made.generation, made.probing, warmups)]

    def _heard(self, heard: Heard) -> list[TraceEvent]:
        kind, facts = heard.kind, dict(heard.facts)
        if kind == "ScriptActed":
            return [ev.ScriptActed(heard.at_us, **facts)]
        if heard.instance:
            name = self.name_of(heard.instance, heard.thread)
            return [EVENT_CLASSES[kind](at_us=heard.at_us, consumer=name, **facts)]
        member_id = facts.pop("id", "")
        for key in _ABOUT_MEMBERS:
            if isinstance(facts.get(key), tuple):
                facts[key] = self.name_of(*facts[key])
        if "kicked" in facts:
            facts["kicked"] = tuple(
                self.name_of(*each) if isinstance(each, tuple) else each for each in facts["kicked"]
            )
        if "member_id" in facts:
            facts["consumer"] = facts.pop("member_id")
        if kind == "TargetComputed":
            return [
                ev.AssignmentComputed(
                    heard.at_us,
                    "",
                    self._group.name,
                    facts["epoch"],
                    facts["assignor"],
                    facts["moved"],
                )
            ]
        if kind in ("MemberAdded", "MemberRemoved"):
            facts["member_id"] = member_id
        if kind in _OF_NO_GROUP:
            return [EVENT_CLASSES[kind](at_us=heard.at_us, **facts)]
        return [EVENT_CLASSES[kind](at_us=heard.at_us, group=self._group.name, **facts)]

    def _instance(self, h: InstanceChanged) -> list[TraceEvent]:
        made: list[TraceEvent] = []
        if h.threads:
            self._lives[h.instance] = h.threads
        for number in range(1, self._lives.get(h.instance, self._threads) + 1):
            name = self.name_of(h.instance, number)
            if h.what == "started":
                self._died_of.pop(h.instance, None)
                made.append(ev.ConsumerStarted(h.at_us, name, h.life))
            elif h.what == "asked":
                made.append(ev.StopAsked(h.at_us, name))
            elif h.what == "closing":
                made.append(ev.CloseBegan(h.at_us, name))
            elif h.what == "closed":
                made.append(ev.CloseEnded(h.at_us, name))
                error = self._died_of.get(h.instance, "")
                how = LifeEnd.FATAL if error else LifeEnd.CLOSED
                made.append(ev.ConsumerExited(h.at_us, name, h.life, how, error))
            elif h.what == "killed":
                made.append(ev.ConsumerExited(h.at_us, name, h.life, LifeEnd.KILLED))
            elif h.what == "froze":
                made.append(ev.ConsumerFroze(h.at_us, name))
            elif h.what == "thawed":
                made.append(ev.ConsumerThawed(h.at_us, name))
        return made

    def _thread(self, h: ThreadStateChanged) -> list[TraceEvent]:
        if h.after == "STARTING":
            return [ev.PollingBegan(h.at_us, self.name_of(h.instance, h.thread), 1)]
        return []

    def _task(self, h: TaskChanged) -> list[TraceEvent]:
        name, inputs = self.name_of(h.instance, h.thread), self._topology.inputs[h.task]
        key = (h.instance, h.thread, h.task)
        if h.how == "standby":
            return self._standby(h, name, inputs)
        if h.what in ("scratch", "checkpoint") or (h.what == "recycled" and h.left >= 0):
            how = "standby" if h.what == "recycled" else h.what
            self._restoring[key] = (h.at_us, h.left, how)
            ended = se.StandbyEnded(h.at_us, name, str(h.task), inputs)
            return [ended] if h.what == "recycled" else []
        if h.what == "held" and key in self._restoring:
            self._held.setdefault(key, h.at_us)
            return []
        if h.what == "restored" and key in self._restoring:
            return [self._restoration(key, h.at_us, 0, "")]
        if h.what in ("closed", "suspended", "killed", "lost") and key in self._restoring:
            return [self._restoration(key, h.at_us, h.left, RestoredFrom.GIVEN_UP)]
        if h.what in ("running", "ready", "resumed", "continued"):
            return self._running(h, name, inputs)
        if h.what in _STUCK:
            return [ev.HandlerStuck(h.at_us, name, _STUCK[h.what], inputs)]
        if h.what == "not-ready":
            return [se.ProcessingHeld(h.at_us, name, inputs)]
        return []

    def _restoration(
        self, key: tuple[str, int, TaskId], at_us: int, left: int, how: str
    ) -> se.StoreRestored:
        """It is over, with so much left to do."""
        instance, thread, task = key
        began, records, began_how = self._restoring.pop(key)
        stores = self._application.parts[task.subtopology].stores.values()
        size = max((store.record_bytes for store in stores), default=0)
        done = max(0, records - max(0, left))
        return se.StoreRestored(
            at_us,
            self.name_of(instance, thread),
            str(task),
            self._topology.inputs[task],
            began,
            done,
            done * size,
            how or began_how,
            self._held.pop(key, -1),
        )

    def _running(
        self, h: TaskChanged, name: str, inputs: tuple[Partition, ...]
    ) -> list[TraceEvent]:
        """The first records come a little later."""
        at_us = h.at_us + h.first_us
        made: list[TraceEvent] = []
        if h.what == "ready":
            made.append(se.ProcessingWentOn(h.at_us, name))
        if h.what == "resumed":
            made.append(ev.HandlerReturned(h.at_us, name))
        batch = {}
        for p in inputs:
            offset = int(self._come(p.topic).come(at_us))
            batch[p] = (offset, offset, -1)
        if h.handled >= 0:
            made += self._positions(h, name, inputs)
        made.append(ev.RecordsDelivered(at_us, name, batch))
        return made

    def _positions(
        self, h: TaskChanged, name: str, inputs: tuple[Partition, ...]
    ) -> list[TraceEvent]:
        """Where it begins to read each input: of several, each has its share of what was handled."""
        come = {p: self._come(p.topic).come(h.at_us) for p in inputs}
        total = sum(come.values())
        found: list[TraceEvent] = []
        for p in inputs:
            share = come[p] / total if total else 0.0
            handled, again = int(h.handled * share), int(h.again * share)
            found.append(ev.PositionFound(h.at_us, name, p, handled - again, "committed", handled))
        return found

    def _come(self, topic: str) -> Arrivals:
        """Into a partition of the topic."""
        found = self._arrivals.get(topic)
        if found is None:
            found = self._arrivals[topic] = arrivals_of([self._application.flow_of(topic)])
        return found

    def _standby(
        self, h: TaskChanged, name: str, inputs: tuple[Partition, ...]
    ) -> list[TraceEvent]:
        if h.what == "standby":
            return [
                se.StandbyBegan(h.at_us, name, str(h.task), inputs, h.left, h.task in self._warmups)
            ]
        if h.what == "follows":
            return [se.StandbyCaughtUp(h.at_us, name, str(h.task), inputs)]
        if h.what in ("closed", "killed", "lost"):
            return [se.StandbyEnded(h.at_us, name, str(h.task), inputs)]
        return []


def _specs(scenario: Scenario, group: Group) -> dict[str, Consumer]:
    """Every instance of the application, those that come with the script too."""
    specs = {spec.name: spec for spec in group.consumers}
    for action in scenario.script:
        for field in ("consumers", "joiners", "surge_consumers"):
            for spec in getattr(action.deed, field, ()):
                if not isinstance(spec, str):
                    specs[spec.name] = spec
    return specs


_TOLD: dict[type, Callable[..., list[TraceEvent]]] = {
    Heard: Teller._heard,
    Refused: Teller._refused,
    InstanceChanged: Teller._instance,
    ThreadStateChanged: Teller._thread,
    TaskChanged: Teller._task,
    LagTurned: Teller._lag,
    ApplicationStateChanged: Teller._application_state,
    AssignmentMade: Teller._assignment,
}
