"""What a trace means, as one value: everything that renderers, budgets, sweeps and comparisons are fed with.

Parts are worked out when first asked for and kept, so that a sweep pays only for the metrics it needs: `longest_pause` costs one pass over the
trace, a phase the walks of the pauses, and so on. Nothing here changes the trace.
"""

from __future__ import annotations

from functools import cached_property

from rebalsim.analysis.causes import Causes
from rebalsim.analysis.disturbances import find_disturbances
from rebalsim.analysis.doing import Doings
from rebalsim.analysis.epochs import EpochFinder
from rebalsim.analysis.index import Index
from rebalsim.analysis.ownership import Holdings, find_holdings
from rebalsim.analysis.pauses import find_pauses
from rebalsim.analysis.phases import Storyteller
from rebalsim.analysis.rounds import RoundFinder
from rebalsim.analysis.values import Disturbance, Pause, Rebalance, Story
from rebalsim.trace.trace import Trace, TraceHeader


class Analysis:
    """One run, explained. `horizon_us` is where observation ends; what is open then is said to be open."""

    def __init__(self, trace: Trace, until_us: int | None = None) -> None:
        self.trace = trace
        self.header: TraceHeader = trace.header
        horizon = trace.header.horizon_us or (trace.events[-1].at_us + 1 if trace.events else 0)
        self.horizon_us: int = horizon if until_us is None else min(until_us, horizon)

    @cached_property
    def index(self) -> Index:
        """Where in the trace to look."""
        return Index(self.trace, self.horizon_us)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups' names, sorted."""
        return tuple(self.index.groups())

    @cached_property
    def pauses(self) -> list[Pause]:
        """Every pause, by beginning; phases and cause are told when asked for (`pause.phases`, `pause.cause`)."""
        found = find_pauses(self.trace, self.horizon_us)
        for pause in found:
            pause._teller = self._tell
        return found

    def _tell(self, pause: Pause) -> Story:
        return self._storyteller.tell(pause)

    @cached_property
    def _storyteller(self) -> Storyteller:
        return Storyteller(self.index, self.header, self.rounds_by_group, self.disturbances)

    @cached_property
    def rounds_by_group(self) -> dict[str, list[Rebalance]]:
        """All rounds, those that never completed too, by group."""
        found = {}
        for group in self.groups:
            rounds = RoundFinder(self.index, self.header, group).run() + EpochFinder(self.index, self.header, group).run()
            rounds.sort(key=lambda r: (r.prepared_us, r.barrier_us))
            found[group] = rounds
        return found

    @cached_property
    def disturbances(self) -> list[Disturbance]:
        """From a trigger to a stable group, by beginning; each group's first settling is among them, and marked in its rounds (`is_formation`)."""
        found: list[Disturbance] = []
        for group in self.groups:
            rounds = self.rounds_by_group[group]
            mine = find_disturbances(rounds, self.index)
            for r in rounds:
                r.is_formation = r.disturbance == 0 and _forms(rounds)
                r.disturbance += len(found)
            found += mine
        causes = Causes(self.index, self.header, Doings(self.index), found)
        for d in found:
            _, consumer, at = causes.of_trigger(d.trigger, d.consumer, d.started_us)
            action = causes.action_for(consumer, at, "")
            d.action = self.trace.events[action].action if action >= 0 else ""
        for place, r in enumerate(self._completed):
            found[r.disturbance].rebalances += (place,)
        return found

    @cached_property
    def _completed(self) -> list[Rebalance]:
        return sorted((r for rounds in self.rounds_by_group.values() for r in rounds if r.is_complete), key=lambda r: (r.barrier_us, r.group))

    @cached_property
    def rebalances(self) -> list[Rebalance]:
        """The rounds that the coordinator completed, by the instant of their barrier; those of a group's first settling are marked."""
        assert self.disturbances is not None              # which marks the rounds
        return self._completed

    @cached_property
    def holdings(self) -> Holdings:
        """Who held what, by group and partition."""
        return find_holdings(self.index)


def _forms(rounds: list[Rebalance]) -> bool:
    """Whether a group's first rounds are its birth, and not the first that the trace happens to have seen."""
    first = rounds[0]
    return first.trigger in ("joined", "") and (first.generation <= 1 or first.completed_by == "computed")


def analyse(trace: Trace, until: int | None = None) -> Analysis:
    """The single entry: what the trace means, up to its horizon or the instant `until` (µs)."""
    return Analysis(trace, until)
