"""The kubelet: it starts containers again that have died, later and later, and kills one that does not
run when its startup probe gives up.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from rebalsim.domain.pods import Looks
from rebalsim.simulation.crash_loop import BackOff, told
from rebalsim.simulation.engine import SCRIPT

NAME = "kubelet"  # as what it does is told of


class Kubelet:
    """All pods' restarts: a pod is a process, by its name."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self._back_off = BackOff()
        self._coming: set[str] = set()  # pods that are about to be started again
        self._started_us: dict[str, int] = {}  # when each consumer's container was started

    # ------------------------------------------------------------------------------------- starting

    def began(self, consumer: Any) -> None:
        """A container was started; with a startup probe it must run in time."""
        self._started_us[consumer.name] = self.world.engine.now
        probe = consumer.spec.life.startup
        if probe is not None:
            at = self.world.engine.now + probe.gives_up_us
            self.world.engine.at(at, SCRIPT, self._must_run, (consumer, consumer.life))

    def _must_run(self, started: tuple[Any, int]) -> None:
        consumer, life = started
        if not consumer.is_alive or consumer.life != life or consumer.begun_us >= 0:
            return
        if not consumer.is_stopping:
            self._tell(f"the startup probe of {consumer.name} gives up", consumer.name)
            consumer.kill("startup-probe")

    def wait_ready(self, pod: list[Any], probe: Looks) -> Generator[Any, Any, None]:
        """Until the readiness probe of a pod's container is content so many times in a row."""
        engine, seen, lives = self.world.engine, 0, [-1]
        while seen < probe.successes:
            now = engine.now
            if lives != [one.life for one in pod]:
                seen, lives = 0, [one.life for one in pod]
            first = self._started(pod) + probe.initial_delay_us
            looks = max(0, (now - first) // probe.period_us + 1)
            yield engine.timeout(first + looks * probe.period_us - now)
            seen = seen + 1 if self._is_ready(pod, probe) else 0

    def _started(self, pod: Iterable[Any]) -> int:
        return max(self._started_us.get(one.name, 0) for one in pod)

    def _is_ready(self, pod: Iterable[Any], probe: Looks) -> bool:
        return all(
            one.is_alive
            and not one.is_stopping
            and not one.is_frozen
            and self._is_up(one)
            and (one.is_assigned or not probe.is_of_assignment)
            for one in pod
        )

    def _is_up(self, one: Any) -> bool:
        """It runs, and its startup probe has seen that."""
        if one.begun_us < 0:
            return False
        startup = one.spec.life.startup
        if startup is None:
            return True
        first = self._started([one]) + startup.initial_delay_us
        looks = max(0, -(-(one.begun_us - first) // startup.period_us))
        return bool(first + looks * startup.period_us <= self.world.engine.now)

    # ---------------------------------------------------------------------------------- restarting

    def exited(self, consumer: Any) -> None:
        """A process died: where that is the pod's policy, and nobody else sees to it, it is started
        again.
        """
        if consumer.spec.life.restart_policy != "Always":
            return
        if consumer.is_stopping or consumer.is_awaited:
            return
        pod = self._pod(consumer)
        name = consumer.spec.process or consumer.name
        if name in self._coming or any(one.is_alive for one in pod):
            return  # where other threads of the process go on, the container does
        self._coming.add(name)
        wait = self.next_wait(consumer)
        names = tuple([one.name for one in pod])
        self._tell(told(consumer.name, wait), *names)
        at = self.world.engine.now + wait
        lives = tuple([(one.name, one.life) for one in pod])
        self.world.engine.at(at, SCRIPT, self._start, (name, lives))

    def next_wait(self, consumer: Any) -> int:
        """How long the next restart of this pod is held back; it counts as made."""
        pod = consumer.spec.process or consumer.name
        return self._back_off.next_wait(pod, self.world.engine.now)

    def _start(self, pod: tuple[str, tuple[tuple[str, int], ...]]) -> None:
        self._coming.discard(pod[0])
        for name, life in pod[1]:
            if self.world.consumers[name].life == life:  # nobody else has started it meanwhile
                self.world.start(name)

    def _pod(self, consumer: Any) -> list[Any]:
        process = consumer.spec.process
        if not process:
            return [consumer]
        return [one for one in self.world.consumers.values() if one.spec.process == process]

    def _tell(self, text: str, *names: str) -> None:
        self.world.script.tell(NAME, "Kubelet", text, names)
