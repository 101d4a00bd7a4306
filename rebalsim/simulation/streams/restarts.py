"""The kubelet beside a Streams application: it starts instances again that have died, later and later
(CrashLoopBackOff), and kills one that does not run when its startup probe gives up.
"""

from __future__ import annotations

from typing import Protocol

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.kafka_states import KafkaStreamsState
from rebalsim.simulation.crash_loop import BackOff, told
from rebalsim.simulation.streams.play import StreamsWorld

NAME = "kubelet"  # as what it does is told of


class Pods(Protocol):
    """The story whose instances are pods."""

    world: StreamsWorld
    specs: dict[str, Consumer]

    def tell(self, name: str, kind: str, text: str, targets: tuple[str, ...]) -> None: ...

    def start(self, name: str) -> None: ...

    def died(self, name: str) -> None: ...


class Restarts:
    """All instances' restarts."""

    def __init__(self, pods: Pods) -> None:
        self._pods, self._port = pods, pods.world.port
        self._back_off = BackOff()

    def died(self, name: str) -> None:
        """Where that is the pod's policy it is started again."""
        if self._pods.specs[name].life.restart_policy != "Always":
            return
        wait = self._back_off.next_wait(name, self._port.now)
        self._pods.tell(NAME, "Kubelet", told(name, wait), (name,))
        life = self._pods.world.instance(name).life
        self._port.call(self._port.now + wait, self._start, (name, life))

    def _start(self, died: tuple[str, int]) -> None:
        name, life = died
        instance = self._pods.world.instance(name)
        if instance.life == life and not instance.is_up:  # nobody else has started it meanwhile
            self._pods.start(name)

    def watch(self, name: str, runs_us: int) -> None:
        """It was started, and calls KafkaStreams.start() then; its startup probe waits so long."""
        probe = self._pods.specs[name].life.startup
        gives_up_us = self._port.now + probe.gives_up_us if probe is not None else runs_us
        if gives_up_us < runs_us:
            life = self._pods.world.instance(name).life
            self._port.call(gives_up_us, self._give_up, (name, life))

    def _give_up(self, started: tuple[str, int]) -> None:
        name, life = started
        instance = self._pods.world.instance(name)
        if (
            instance.life == life
            and instance.is_up
            and instance.state != KafkaStreamsState.PENDING_SHUTDOWN
        ):
            self._pods.tell(NAME, "Kubelet", f"the startup probe of {name} gives up", (name,))
            instance.kill()
            self._pods.died(name)
