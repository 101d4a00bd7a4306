"""A rolling bounce of a Streams application: instances restarted a few at a time, in place (a
StatefulSet, systemd units) or by replacements with new names (a Deployment).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.draws import Draw
from rebalsim.domain.kafka_states import KafkaStreamsState
from rebalsim.domain.pods import Looks
from rebalsim.domain.script import RollingBounce
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.script_words import say_deed
from rebalsim.simulation.streams.play import StreamsWorld

Carried = Generator[Any, Any, None]
LOOK_US = 50_000  # how often somebody who waits for an instance looks


class Stage(Protocol):
    """The story that carries its script out."""

    world: StreamsWorld
    specs: dict[str, Consumer]

    def tell(self, name: str, kind: str, text: str, targets: tuple[str, ...]) -> None: ...

    def wait(self, length_us: int) -> Carried: ...

    def draw(self, stream: str, what: Draw) -> int: ...

    def start(self, name: str) -> None: ...

    def stop(self, name: str) -> Carried: ...


def roll(stage: Stage, name: str, deed: RollingBounce) -> Carried:
    """Done when the last one is ready. Who has yet to come for the first time (another roll is under
    way) is left in peace.
    """
    if not any(who in stage.specs for who in deed.consumers):
        stage.tell(name, "RollingBounce", say_deed(deed), ())
        return
    if deed.surge_consumers:
        yield from _Replacement(stage, name, deed).run()
        return
    left = [who for who in deed.consumers if who in stage.specs]
    side_by_side = min(deed.max_unavailable, len(left))
    if side_by_side == 1:
        yield from _in_place(stage, name, deed, left)
    else:
        port = stage.world.port
        workers = [port.begin(_in_place(stage, name, deed, left)) for _ in range(side_by_side)]
        yield from workers


def _in_place(stage: Stage, name: str, deed: RollingBounce, left: list[str]) -> Carried:
    """One after another, for as long as there are any; several of these run side by side."""
    while left:
        who = left.pop(0)
        stage.tell(name, "RollingBounce", f"restart {say_names((who,))}", (who,))
        yield from stage.stop(who)
        yield from _away(stage, name, deed)
        stage.start(who)
        yield from _ready(stage, deed, who)


def _away(stage: Stage, name: str, deed: RollingBounce) -> Carried:
    if deed.down is not None:
        yield from stage.wait(stage.draw(f"script/{name}", deed.down))


def _ready(stage: Stage, deed: RollingBounce, who: str) -> Carried:
    """So long after its start, at a look of its probe, or once it is RUNNING; then it settles."""
    if deed.readiness is not None:
        yield from _probed(stage, deed.readiness, who)
    else:
        yield from stage.wait(deed.ready_after_us)
    while deed.ready_when_assigned and not _runs(stage, who):
        yield from stage.wait(LOOK_US)
    yield from stage.wait(deed.settle_us)


def _probed(stage: Stage, probe: Looks, who: str) -> Carried:
    """Until the readiness probe was content so many times in a row."""
    yield from stage.wait(probe.initial_delay_us)
    seen = 0
    while True:
        is_up = stage.world.instance(who).is_up
        seen = seen + 1 if is_up and (_runs(stage, who) or not probe.is_of_assignment) else 0
        if seen >= probe.successes:
            return
        yield from stage.wait(probe.period_us)


def _runs(stage: Stage, who: str) -> bool:
    return stage.world.instance(who).state == KafkaStreamsState.RUNNING


class _Replacement:
    """Kubernetes' rolling update: never more pods than wanted + surge, never fewer ready ones than
    wanted − unavailable. Pods on their way out do not count.
    """

    def __init__(self, stage: Stage, name: str, deed: RollingBounce) -> None:
        self._stage, self._name, self._deed = stage, name, deed
        both = [
            both for both in zip(deed.consumers, deed.surge_consumers) if both[0] in stage.specs
        ]
        self._old = [old for old, _ in both]
        self._new = [new for _, new in both]
        self._wanted = len(self._old)
        self._started = self._ready = 0

    def run(self) -> Carried:
        port, deed = self._stage.world.port, self._deed
        late_us = port.now + deed.deadline_us if deed.deadline_us else None
        while self._ready < self._wanted or self._old:
            self._start_some()
            while self._old and self._alive > self._wanted - deed.max_unavailable:
                who = self._old.pop(0)
                self._stage.tell(self._name, "RollingBounce", f"stop {say_names((who,))}", (who,))
                port.begin(self._stage.stop(who))
                self._start_some()
            before = self._ready
            while self._ready == before and (self._ready < self._wanted or self._old):
                if late_us is not None and port.now >= late_us:
                    self._tell_late()
                    late_us = None
                yield from self._stage.wait(LOOK_US)
            if late_us is not None:
                late_us = port.now + deed.deadline_us

    @property
    def _alive(self) -> int:
        """Old ones, and new ones that are ready."""
        return len(self._old) + self._ready

    def _start_some(self) -> None:
        while self._new and len(self._old) + self._started < self._wanted + self._deed.surge:
            self._started += 1
            self._stage.world.port.begin(self._come(self._new.pop(0)))

    def _come(self, spec: Consumer) -> Carried:
        """A new pod comes, and is ready in the end."""
        stage = self._stage
        yield from _away(stage, self._name, self._deed)
        stage.tell(self._name, "RollingBounce", f"start {say_names((spec.name,))}", (spec.name,))
        stage.specs[spec.name] = spec
        stage.start(spec.name)
        yield from _ready(stage, self._deed, spec.name)
        self._ready += 1

    def _tell_late(self) -> None:
        """progressDeadlineSeconds sets a condition, and nothing is rolled back."""
        said = f"progress deadline exceeded: {self._ready} of {self._wanted} new pods are ready"
        self._stage.tell(self._name, "RollingBounce", said, ())
