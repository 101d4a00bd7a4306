"""How far tasks are behind, as a trace tells it of their partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.domain.ids import Partition
from rebalsim.simulation.streams.arrivals import Arrivals
from rebalsim.simulation.streams.happenings import LagTurned
from rebalsim.trace.events import LagMarked

STANDS = 0.5  # of a record: so near to all that came, and nothing was handled


class LagTeller:
    """One group's. Between two corners lag runs straight, and where records begin to come faster
    while a task stands still there is another one.
    """

    def __init__(self, group: str, come: Callable[[str], Arrivals]) -> None:
        self._group, self._come = group, come
        self._last: dict[TaskId, LagTurned] = {}

    def told(
        self, turned: LagTurned, inputs: Mapping[TaskId, tuple[Partition, ...]]
    ) -> list[LagMarked]:
        """Its lag is that of all its partitions: each has its share of what came."""
        of, before = inputs.get(turned.task, ()), self._last.get(turned.task)
        if turned == before:
            return []
        self._last[turned.task] = turned
        corners = [*self._between(before, turned, of), (turned.at_us, turned.records)]
        return [mark for at_us, lag in corners for mark in self._shared(at_us, lag, of)]

    def _between(
        self, before: LagTurned | None, turned: LagTurned, of: tuple[Partition, ...]
    ) -> list[tuple[int, float]]:
        arrivals = [self._come(p.topic) for p in of]
        if before is None or all(len(each.steps) == 1 for each in arrivals):
            return []
        steps = sorted({at for each in arrivals for at, _ in each.steps})
        so_far = before.records - sum(each.come(before.at_us) for each in arrivals)
        if (
            abs(so_far + sum(each.come(turned.at_us) for each in arrivals) - turned.records)
            > STANDS
        ):
            return []
        between = [at for at in steps if before.at_us < at < turned.at_us]
        return [(at, so_far + sum(each.come(at) for each in arrivals)) for at in between]

    def _shared(self, at_us: int, lag: float, of: tuple[Partition, ...]) -> list[LagMarked]:
        come = [self._come(p.topic).come(at_us) for p in of]
        total = sum(come)
        return [
            LagMarked(at_us, p, self._group, int(lag * each / total) if total else 0)
            for p, each in zip(of, come)
        ]
