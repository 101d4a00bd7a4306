"""What sub-topologies write for others to read: a repartition topic gets a record for each that its
writers handle. Where a writer's task stands still it gets none of that task's, and what had piled
up comes once the task goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.simulation.streams.application import Application
from rebalsim.simulation.streams.arrivals import SECOND, Steps, rate_at
from rebalsim.simulation.streams.changelogs import Progresses
from rebalsim.simulation.streams.port import NEVER, Port

NOTHING = 1e-6  # of a record: what rounding leaves
NEAR = 1e-7  # so near, of itself, a rate is the same
DIRECT_LOOKS = 3  # at one instant: what goes on changing then is a circle
MOST_LOOKS = 40  # at one instant: threads that fall behind and catch up in turn never agree


@dataclass(slots=True)
class Output:
    """One task's: so many records until then, and so many a second from then on."""

    at_us: int = 0
    sent: float = 0.0
    rate: float = 0.0


@dataclass(slots=True)
class Flow:
    """Of a topic: what each task of its writers hands on, so many records a second into each of its
    partitions, and what comes there at once, by its instant. `outside` is what others produce there;
    `looks` counts those at `at_us`.
    """

    outside: Steps = ((0, 0.0),)
    outputs: dict[TaskId, Output] = field(default_factory=dict)
    at_us: int = -1
    looks: int = 0
    rate: float = 0.0
    owed: float = 0.0  # what comes at once the next time
    bursts: dict[int, float] = field(default_factory=dict)


class Repartitions:
    """All of an application's. `flowed` is told which topics get their records otherwise from now
    on.
    """

    def __init__(
        self,
        port: Port,
        application: Application,
        progresses: Progresses,
        flowed: Callable[[list[str]], None],
    ) -> None:
        self._port, self._application, self._progresses = port, application, progresses
        self._flowed = flowed
        self._writers = {
            number: part.repartition_sinks
            for number, part in enumerate(application.parts)
            if part.repartition_sinks
        }
        topics = dict.fromkeys(topic for sinks in self._writers.values() for topic in sinks)
        self._flows = {topic: Flow(outside=application.flow_of(topic)) for topic in topics}
        application.flows.update({topic: flow.outside for topic, flow in self._flows.items()})
        self._turned: dict[TaskId, None] = {}
        self._extra: dict[str, float] = {}  # of topics to be looked at: what comes at once
        self._is_to_look = False
        if self._writers:
            progresses.turned = self.turned

    def outside_turned(self, topic: str) -> None:
        """Others produce into the topic otherwise from now on: so much as its flow ends with."""
        flow = self._flows.get(topic)
        if flow is not None:
            now = self._port.now
            past = [step for step in flow.outside if step[0] < now]
            flow.outside = (*past, (now, self._application.flows[topic][-1][1]))
            self._compose(topic, flow)

    def turned(self, task: TaskId) -> None:
        """The task handles its records otherwise from now on; whatever else does so at this instant
        is seen together with it.
        """
        if task.subtopology in self._writers:
            self._turned[task] = None
            self._look_soon()

    def _look_soon(self) -> None:
        if not self._is_to_look:
            self._is_to_look = True
            self._port.call(self._port.now, self._look)

    def _look(self, _: object) -> None:
        self._is_to_look = False
        turned, self._turned = self._turned, {}
        for task in turned:
            self._take(task)
        extra, self._extra = self._extra, {}
        flowed = [topic for topic, records in extra.items() if self._write(topic, records)]
        if flowed:
            self._flowed(flowed)

    def _take(self, task: TaskId) -> None:
        """What the task hands on from now on, and what it did otherwise than was thought."""
        now, progresses = self._port.now, self._progresses
        sent, rate = progresses.sent(task, now), progresses.pace(task, now)
        due_us = progresses.paces_until(task, now)
        if due_us < NEVER:
            self._port.call(due_us, self.turned, task)
        for topic in self._writers[task.subtopology]:
            output = self._flows[topic].outputs.setdefault(task, Output())
            at_once = sent - output.sent - output.rate * (now - output.at_us) / SECOND
            self._extra[topic] = self._extra.get(topic, 0.0) + at_once
            output.at_us, output.sent, output.rate = now, sent, rate

    def _write(self, topic: str, at_once: float) -> bool:
        """So many records come at once, in the microsecond after this one, and then as many as its
        writers handle; whether that is otherwise than before.
        """
        now, flow = self._port.now, self._flows[topic]
        count = max(1, self._application.topics.get(topic, 1))
        rate = self._settling(flow, sum(o.rate for o in flow.outputs.values()) / count)
        at_once, flow.owed = at_once + flow.owed, 0.0
        if flow.looks > MOST_LOOKS:
            flow.owed = at_once
            return False
        if at_once <= NOTHING and abs(rate - flow.rate) <= NEAR * max(rate, flow.rate):
            return False
        flow.rate = rate
        flow.bursts = {at: records for at, records in flow.bursts.items() if at >= now}
        if at_once > NOTHING:
            flow.bursts[now + 1] = flow.bursts.get(now + 1, 0.0) + at_once / count
        self._compose(topic, flow)
        self._extra.setdefault(topic, 0.0)
        self._look_soon()
        return True

    def _compose(self, topic: str, flow: Flow) -> None:
        """What others produce and what is handed on, together, from now on."""
        now = self._port.now
        ahead = [at for at, _ in flow.outside if at > now]
        moments = {now, *ahead, *flow.bursts, *(at + 1 for at in flow.bursts)}
        coming = [
            (at, rate_at(flow.outside, at) + flow.rate + flow.bursts.get(at, 0.0) * SECOND)
            for at in sorted(moments)
        ]
        past = [step for step in self._application.flows[topic] if step[0] < now]
        self._application.flows[topic] = (*past, *coming)

    def _settling(self, flow: Flow, rate: float) -> float:
        """A thread that reads what it writes itself has the less time to write the more it reads:
        looked at again and again it comes to where both go together, half of the way at a time.
        """
        now = self._port.now
        flow.at_us, flow.looks = now, flow.looks + 1 if flow.at_us == now else 1
        return rate if flow.looks <= DIRECT_LOOKS else (rate + flow.rate) / 2
