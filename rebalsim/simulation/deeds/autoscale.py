"""An autoscaler at work: two processes, as in Kubernetes. KEDA looks every pollingInterval and decides
between none and some; the HPA looks every 15 s and decides how many.

Both see what the brokers know: committed offsets and ends of logs. A pod that is added starts like
any other; of those that are alike the ones that came last go first.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.domain.autoscaling import Autoscale
from rebalsim.domain.draws import mean_of
from rebalsim.domain.ids import Partition
from rebalsim.simulation.autoscaling.hpa import Behaviour, wanted_by_lag, wanted_by_load
from rebalsim.simulation.autoscaling.keda import Lag, lag_of

Carried = Generator[Any, Any, None]


def autoscale(world: Any, name: str, deed: Autoscale) -> Carried:
    """From now on; it is over with the story."""
    scaler = _Scaler(world, name, deed)
    if deed.cpu_target is None:
        world.engine.begin(scaler.keda_loop())
    yield from scaler.hpa_loop()


class _Scaler:
    """One autoscaler, and how many pods it wants."""

    def __init__(self, world: Any, name: str, deed: Autoscale) -> None:
        self.world, self.name, self.deed = world, name, deed
        self.behaviour = Behaviour(deed)
        self.active_us = world.engine.now
        self.handled = -1.0
        self.mine: list[
            str
        ] = []  # spec.replicas, by name: who restarts is among them all the while
        self.mine = self._members()

    # ---- what it sees ----
    def replicas(self) -> int:
        """How many the workload is told to have; a pod that restarts is one of them."""
        self.mine = self._members()
        return len(self.mine)

    def _members(self) -> list[str]:
        """Whoever is told to run. Where as many others run by now (a deploy replaced them), these
        are meant.
        """
        living = [c.name for c in self.world.living(self.deed.group) if not c.is_stopping]
        return living if len(living) >= len(self.mine) else self.mine

    def _ends(self) -> dict[Any, int]:
        world, deed = self.world, self.deed
        topics = deed.topics or tuple(world.partitions)
        now = world.engine.now
        return {
            p: world.flows[p].count(now)
            for topic in topics
            for number in range(world.partitions.get(topic, 0))
            if (p := Partition(topic, number)) in world.flows
        }

    def lag(self) -> Lag:
        """As KEDA asks the brokers: what was committed, not what was handled."""
        ends = self._ends()
        return lag_of(ends, self._committed(ends), self.deed)

    def _committed(self, ends: dict[Any, int]) -> dict[Any, int]:
        host = self.world.hosts.get(self.deed.group)
        if host is None:
            return {}
        found: dict[Any, int] = host.committed(tuple(ends))
        return found

    def busy(self) -> float | None:
        """The mean share of time that the members were at work since the last look."""
        world = self.world
        ends = self._ends()
        handled = float(sum(max(0, world.progress.of(self.deed.group, p)) for p in ends))
        before, self.handled = self.handled, handled
        members = [c for c in world.living(self.deed.group) if c.is_assigned]
        if before < 0 or not members:
            return None
        each = mean_of(members[0].spec.handler.per_record)
        return (handled - before) * each / (self.deed.sync_us * len(members))

    # ---- what it does ----
    def keda_loop(self) -> Carried:
        """KEDA's part: whether there are any pods at all. It is active as long as there is more lag
        than the activation threshold.
        """
        deed, engine = self.deed, self.world.engine
        while True:
            if self.lag().seen > deed.activation:
                self.active_us = engine.now
                if self.replicas() <= (deed.idle or 0):
                    self._scale(max(1, deed.least), "active again")
            elif engine.now - self.active_us >= deed.cooldown_us:
                floor = deed.idle if deed.idle is not None else deed.least
                if floor < max(1, deed.least) and self.replicas() > floor:
                    self._scale(floor, "idle for the cooldown")
            yield engine.timeout(deed.polling_us)

    def hpa_loop(self) -> Carried:
        """How many: every 15 s, by lag or by load."""
        deed, engine = self.deed, self.world.engine
        while True:
            yield engine.timeout(deed.sync_us)
            current = self.replicas()
            if not current:
                continue  # from none it is KEDA that decides
            wanted, why = self._wanted(current)
            target = self.behaviour.decided(engine.now, current, wanted)
            if target != current:
                self.behaviour.changed(engine.now, target - current)
                self._scale(target, why)

    def _wanted(self, current: int) -> tuple[int, str]:
        deed = self.deed
        if deed.cpu_target is not None:
            busy = self.busy()
            if busy is None:
                return current, ""
            return wanted_by_load(busy, current, deed), f"busy {100 * busy:.0f} %"
        lag = self.lag()
        wanted = wanted_by_lag(lag.total, current, deed)
        return wanted, f"lag {round(lag.seen):,}, threshold {deed.lag_threshold:g}"

    def _scale(self, to: int, why: str) -> None:
        """Pods start, or are asked to stop; the scaler does not wait for them."""
        world, mine = self.world, self.mine
        said = f"scale {len(mine)} to {to}" + (f": {why}" if why else "")
        if to > len(mine):
            idle = [
                spec
                for spec in self.deed.joiners
                if spec.name not in mine
                and (spec.name not in world.consumers or not world.consumers[spec.name].is_alive)
            ]
            coming = idle[: to - len(mine)]
            if coming:
                world.script.tell(self.name, "Autoscale", said, tuple([s.name for s in coming]))
            for spec in coming:
                world.start(spec.name, spec)
            self.mine = [*mine, *(spec.name for spec in coming)]
            return
        leaving = list(reversed(mine[to:]))
        self.mine = mine[:to]
        world.script.tell(self.name, "Autoscale", said, tuple(leaving))
        for name in leaving:
            world.consumers[name].stop()


CARRIED_OUT = {
    Autoscale: autoscale,
}
