"""What is found in a trace, as one value: pauses, rounds, disturbances, who held what.

Parts are worked out when first asked for and kept, so that a sweep pays only for the metrics it
needs: `longest_pause` costs one pass over the trace, a phase the walks of the pauses, and so on.
Nothing here changes the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import takewhile
from typing import Any

from rebalsim.analysis.alarms import find_alarms
from rebalsim.analysis.causes import Causes
from rebalsim.analysis.client_metrics import Values, find_client_metrics
from rebalsim.analysis.connect_phases import worker_groups
from rebalsim.analysis.consumer_doings import Doings
from rebalsim.analysis.diagnosis import find_answers
from rebalsim.analysis.disturbances import find_disturbances
from rebalsim.analysis.epochs import EpochFinder
from rebalsim.analysis.index import Index
from rebalsim.analysis.invariants import find_violations
from rebalsim.analysis.lag import LagBook
from rebalsim.analysis.lanes import find_lanes, partition_keys
from rebalsim.analysis.marks import find_marks
from rebalsim.analysis.members import find_members
from rebalsim.analysis.ownership import Holdings, find_holdings
from rebalsim.analysis.pauses import find_pauses
from rebalsim.analysis.phases import Storyteller
from rebalsim.analysis.records import find_redeliveries
from rebalsim.analysis.rounds import RoundFinder
from rebalsim.analysis.standbys import Copies, find_copies
from rebalsim.analysis.states import find_application_states, find_states, state_shares
from rebalsim.analysis.values import (
    Alarm,
    Answer,
    Disturbance,
    LagCurve,
    Lane,
    Mark,
    MemberLife,
    Pause,
    Rebalance,
    Redelivery,
    StateSpan,
    Story,
    Value,
    Violation,
)
from rebalsim.domain.collector import seldom_collecting
from rebalsim.domain.ids import Partition
from rebalsim.domain.trigger import Trigger
from rebalsim.trace.events import PositionFound, TraceEvent
from rebalsim.trace.trace import Trace, TraceHeader


class Findings:
    """One run, explained. `horizon_us` is where observation ends; what is open then is said to
    be open.
    """

    def __init__(self, trace: Trace, until_us: int | None = None) -> None:
        self.trace = trace
        self.header: TraceHeader = trace.header
        horizon = trace.header.horizon_us or (trace.events[-1].at_us + 1 if trace.events else 0)
        self.horizon_us: int = horizon if until_us is None else min(until_us, horizon)
        # by group: rounds that ended with nobody left, which `rounds_by_group` leaves out
        self._emptied: dict[str, list[Rebalance]] = {}
        # group → topics that its members subscribe to, where whoever played the trace says so: a
        # group that never came into being leaves no other mark
        self.expected: dict[str, tuple[str, ...]] = {}
        self.measured: dict[str, Value] = {}  # what measure() has found over everything …
        self.workings: dict[Any, Any] = {}  # … and what it needed, or found over selections

    def told(self) -> Iterator[TraceEvent]:
        """The events until observation ended."""
        return takewhile(lambda e: e.at_us < self.horizon_us, self.trace.events)

    @cached_property
    def index(self) -> Index:
        """Where in the trace to look."""
        return Index(self.trace, self.horizon_us)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups' names, sorted."""
        return tuple(self.index.groups())

    @cached_property
    @seldom_collecting()
    def pauses(self) -> list[Pause]:
        """Every pause, by beginning; phases and cause are told when asked for (`pause.phases`,
        `pause.cause`).
        """
        found = find_pauses(self.trace, self.horizon_us)
        for pause in found:
            pause._teller = self._story_of
        return found

    @cached_property
    def worker_groups(self) -> frozenset[str]:
        """The groups of Kafka Connect's workers; their partitions are tasks."""
        return worker_groups(self.header)

    @cached_property
    def partition_pauses(self) -> list[Pause]:
        """The pauses of partitions alone."""
        of_tasks = self.worker_groups
        return [p for p in self.pauses if p.group not in of_tasks] if of_tasks else self.pauses

    @cached_property
    def task_pauses(self) -> list[Pause]:
        """The pauses of Connect's tasks."""
        of_tasks = self.worker_groups
        return [p for p in self.pauses if p.group in of_tasks] if of_tasks else []

    def _story_of(self, pause: Pause) -> Story:
        return self._storyteller.story_of(pause)

    @cached_property
    def _storyteller(self) -> Storyteller:
        return Storyteller(
            self.index, self.header, self.rounds_by_group, self._emptied, self.disturbances
        )

    @property
    def rounds_by_group(self) -> dict[str, list[Rebalance]]:
        """All rounds, those that never completed too, by group; those of a first settling are
        marked.
        """
        assert self.disturbances is not None  # which marks the rounds
        return self._rounds

    @cached_property
    def _rounds(self) -> dict[str, list[Rebalance]]:
        """All rounds by group, before those of a first settling are marked."""
        found = {}
        for group in self.groups:
            finder = RoundFinder(self.index, self.header, group)
            rounds = finder.run()
            self._emptied[group] = finder.emptied
            if self.index.new_protocol:
                rounds += EpochFinder(self.index, self.header, group).run()
            rounds.sort(key=lambda r: (r.prepared_us, r.barrier_us))
            found[group] = rounds
        return found

    @cached_property
    @seldom_collecting()
    def disturbances(self) -> list[Disturbance]:
        """From a trigger to a stable group, by beginning; each group's first settling is among
        them, and marked in its rounds (`is_formation`).
        """
        found: list[Disturbance] = []
        for group in self.groups:
            rounds = self._rounds[group]
            mine = find_disturbances(rounds, self.index)
            for r in rounds:
                r.is_formation = r.disturbance == 0 and _forms(rounds)
                r.disturbance += len(found)
            found += mine
        causes = Causes(self.index, self.header, Doings(self.index), found)
        for d in found:
            action = causes.action_of(d)
            acted = self.trace.events[action] if action >= 0 else None
            d.action = (acted.action or acted.text) if acted is not None else ""
        places: dict[int, list[int]] = {}
        for place, r in enumerate(self._completed):
            places.setdefault(r.disturbance, []).append(place)
        for which, those in places.items():
            found[which].rebalances = tuple(those)
        return found

    @cached_property
    def _completed(self) -> list[Rebalance]:
        return sorted(
            (r for rounds in self._rounds.values() for r in rounds if r.is_complete),
            key=lambda r: (r.barrier_us, r.group),
        )

    @cached_property
    def rebalances(self) -> list[Rebalance]:
        """The rounds that the coordinator completed, by the instant of their barrier; those of a
        group's first settling are marked.
        """
        assert self.disturbances is not None  # which marks the rounds
        return self._completed

    @cached_property
    @seldom_collecting()
    def holdings(self) -> Holdings:
        """Who held what, by group and partition."""
        return find_holdings(self.index)

    @cached_property
    def partitions(self) -> list[tuple[str, Partition]]:
        """Every partition (with its group) that the group held, could have held or missed."""
        return partition_keys(self.holdings, self.pauses, self.header.topics, self.worker_groups)

    @cached_property
    def partition_keys(self) -> list[tuple[str, Partition]]:
        """Every partition (with its group), but none of Connect's tasks."""
        of_tasks = self.worker_groups
        return [k for k in self.partitions if k[0] not in of_tasks] if of_tasks else self.partitions

    @cached_property
    @seldom_collecting()
    def lanes(self) -> list[Lane]:
        """A bar for each of them; equal ones point at the first of their kind (`like`)."""
        return find_lanes(
            self.holdings, self.pauses, self.header.topics, self.horizon_us, self.worker_groups
        )

    @cached_property
    def group_states(self) -> dict[str, list[StateSpan]]:
        """Each group's states over time, without holes."""
        return {
            group: find_states(group, self.index, self.rounds_by_group[group])
            for group in self.groups
        }

    @cached_property
    def application_states(self) -> dict[str, list[StateSpan]]:
        """Kafka Streams, by group: what its StateListeners hear, all instances together."""
        return find_application_states(self.index, self.trace.header.consumers)

    @cached_property
    def copies(self) -> Copies:
        """Kafka Streams: standbys and warm-ups of the task with which a group reads a partition."""
        return find_copies(self.index, self.trace.header.consumers)

    @cached_property
    def state_shares(self) -> dict[str, dict[str, float]]:
        """Group → state → share of the observed time."""
        return {group: state_shares(spans) for group, spans in self.group_states.items()}

    @cached_property
    def marks(self) -> list[Mark]:
        """Script actions, completed rebalances, brokers and topics, in order of time."""
        return find_marks(self.index, self.rebalances)

    @cached_property
    def members(self) -> list[MemberLife]:
        """What each consumer lived through."""
        return find_members(self.index, self.header, self.holdings, self.pauses)

    @cached_property
    def lag_book(self) -> LagBook:
        """Lag at any instant, ages of records."""
        return LagBook(self.trace, self.horizon_us, self.groups[0] if self.groups else "")

    @cached_property
    def lag(self) -> list[LagCurve]:
        """A curve per partition; empty where nothing is known."""
        return self.lag_book.curves()

    @cached_property
    def redeliveries(self) -> list[Redelivery]:
        """Records delivered twice, and skipped, by the position that made it so."""
        return find_redeliveries(
            self.trace, self.horizon_us, self.index.group_of, self.disturbances
        )

    @cached_property
    def tells_positions(self) -> bool:
        """Whether the trace says where owners began to read, against what had been handled."""
        return any(
            type(e) is PositionFound and (e.handled >= 0 or self.header.is_simulated)
            for e in self.trace.events
        )

    @cached_property
    def client_metrics(self) -> dict[str, Values]:
        """Consumer → Kafka's metric → value (µs where it is a time), None where the trace cannot
        tell.
        """
        return find_client_metrics(self.index, self.header, self.holdings, self.lag_book)

    @cached_property
    def answers(self) -> list[Answer]:
        """The four questions of a group that rebalances too often."""
        return find_answers(self.index, self.header, self.members)

    @cached_property
    def alarms(self) -> list[Alarm]:
        """Who is dead, which group was not stable in the end, and what a stable one has given to
        nobody.
        """
        return find_alarms(
            self.index, self.header, self.rounds_by_group, self.disturbances, self.holdings
        )

    @cached_property
    def violations(self) -> list[Violation]:
        """Broken invariants: none, unless there is a bug."""
        return find_violations(self.index, self.header, self.rounds_by_group)


def _forms(rounds: list[Rebalance]) -> bool:
    """Whether a group's first rounds are its birth, and not the first that the trace happens to
    have seen.
    """
    first = rounds[0]
    return first.trigger in (Trigger.JOINED, Trigger.NONE) and (
        first.generation <= 1 or first.is_of_epochs
    )
