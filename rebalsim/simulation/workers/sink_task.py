"""A sink's task: a consumer of the group `connect-NAME` in a worker's process. It joins when the
task starts, and leaves when it stops: what that does to the group's other tasks is the group's
matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rebalsim.assignors.connect.work import Task
from rebalsim.connect.told_in_trace import works
from rebalsim.domain.commit_style import CommitStyle
from rebalsim.domain.connect import Connector
from rebalsim.domain.consumer import Consumer as Spec
from rebalsim.domain.consumer import Cost, Handler, Listener
from rebalsim.domain.draws import constantly
from rebalsim.domain.pods import Life
from rebalsim.trace.connect_events import (
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarting,
    TaskStopped,
    TaskStopping,
)

if TYPE_CHECKING:
    from rebalsim.simulation.consumer import Consumer

FOR_EVER_US = 1 << 50  # nobody kills a thread


class SinkTask:
    """One copy of a task, with a consumer of its own."""

    def __init__(self, worker: Any, task: Task, connector: Connector, is_paused: bool) -> None:
        self.worker = worker
        self.task = task
        self.connector = connector
        self.is_paused = is_paused
        self.is_ended = self.is_leftover = False
        self.has_begun = False
        self.done: Callable[[], None] | None = None
        self.consumer = _consumer_for(worker, task, connector)
        worker.record(TaskStarting(worker.now, worker.name, str(task)))
        took = worker.draw(f"task-start/{task}", connector.start)
        worker.at(worker.now + took, self._started)

    def _started(self, _: Any) -> None:
        if self.is_ended:
            return
        if self.done is not None:
            self._ended()
            return
        worker = self.worker
        worker.compute(worker.draw("subscribe", worker.costs.subscribe), self._subscribed)

    def _subscribed(self, _: Any) -> None:
        """Its consumer joins."""
        if self.is_ended:
            return
        if self.done is not None:
            self._ended()
            return
        self.has_begun = True
        self.consumer.begin()
        works(self.worker, self.task)

    def set_paused(self, is_paused: bool) -> None:
        """Its consumer goes on polling, with its partitions paused."""
        if is_paused != self.is_paused and not self.is_ended:
            self.is_paused = is_paused
            kind = TaskPaused if is_paused else TaskResumed
            self.worker.record(kind(self.worker.now, self.worker.name, str(self.task)))

    def stop(self, done: Callable[[], None]) -> None:
        """Its poll is interrupted; it closes its partitions, stops, and closes its consumer."""
        self.done = done
        if not self.has_begun:
            return
        worker, consumer = self.worker, self.consumer
        if not consumer.is_alive:
            self._ended()
            return
        worker.record(TaskStopping(worker.now, worker.name, str(self.task)))
        took = worker.draw(f"task-stop/{self.task}", self.connector.stop)
        if took:
            listener = consumer.spec.listener
            closes = worker.draw(f"task-close/{self.task}", self.connector.close)
            revoked = replace(listener.revoked, fixed=constantly(took + closes))
            consumer.spec = replace(consumer.spec, listener=replace(listener, revoked=revoked))
        self._watch()
        consumer.stop()

    def _watch(self) -> None:
        self.worker.world.script.watch(self.consumer.name, self._looked)

    def _looked(self) -> None:
        if self.consumer.is_alive:
            self._watch()
        else:
            self.worker.at(self.worker.now, lambda _: self._ended())

    def _ended(self) -> None:
        if self.is_ended:
            return
        self.is_ended = True
        worker = self.worker
        worker.record(TaskStopped(worker.now, worker.name, str(self.task), self.is_leftover))
        if self.done is not None:
            self.done()

    def fail(self) -> None:
        """Its consumer is closed on the way out."""
        if not self.is_ended and self.has_begun and self.consumer.is_alive:
            self.worker.record(TaskFailed(self.worker.now, self.worker.name, str(self.task)))
            self.consumer.stop()

    def interrupt(self) -> None:
        self.consumer.kill()
        self._ended()


def _consumer_for(worker: Any, task: Task, connector: Connector) -> Consumer:
    """A consumer of this task in this worker: the one it had before, or one more where that still
    lives as a leftover.
    """
    known: list[Consumer] = worker.sinks.setdefault(str(task), [])
    spec = sink_spec(worker, task, connector)
    for consumer in known:
        if not consumer.is_alive:
            consumer.take_spec(replace(spec, name=consumer.name))
            return consumer
    again = f"+{len(known)}" if known else ""
    known.append(worker.world.add(replace(spec, name=f"{spec.name}{again}")))
    return known[-1]


def sink_spec(worker: Any, task: Task, connector: Connector) -> Spec:
    """How Connect sets up a sink task's consumer: it commits by itself every
    offset.flush.interval.ms and when partitions are closed, and polls until then.
    """
    settings = worker.settings
    config = connector.consumer or settings.consumer
    flush = settings.offset_flush_interval_us
    return Spec(
        f"{task}@{worker.name}",
        connector.group,
        worker.name,
        rack=worker.rack,
        client_version=worker.spec.client_version,
        config=replace(
            config,
            client_id=f"connector-consumer-{task}",
            enable_auto_commit=True,
            auto_commit_interval_us=flush,
        ),
        topics=tuple(sorted(connector.topics)),
        handler=Handler(
            per_record=connector.per_record, poll_timeout_us=flush, commit=CommitStyle.AUTO
        ),
        listener=Listener(Cost(connector.close), Cost(connector.open)),
        life=Life(grace_us=FOR_EVER_US),
        starts_at=None,
    )
