"""Kafka Streams' default, `HighAvailabilityTaskAssignor`: an even assignment dealt without a look
at who has what, and then every move to a process that is not ready turned into a warm-up.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.assignors.streams.balance import balance
from rebalsim.assignors.streams.least_loaded import LeastLoadedQueue, by_active_load
from rebalsim.assignors.streams.movements import Movements
from rebalsim.assignors.streams.process import Group, Process
from rebalsim.assignors.streams.racks import (
    STATELESS_COSTS,
    Costs,
    RackOptimiser,
    by_subtopology,
    racks_known,
)
from rebalsim.assignors.streams.standbys import keeps_apart, place_standbys, same_tags
from rebalsim.assignors.streams.tasks import TaskId

TRAFFIC_COST, NON_OVERLAP_COST = 10, 1


def assign(group: Group) -> bool:
    """Deals the tasks; says whether a probing rebalance shall look again."""
    processes, stateful = group.in_order, group.topology.stateful
    racks = _racks(group, processes)
    _deal(processes, stateful)
    if racks:
        racks.optimise("active", stateful, group.topology.inputs.__getitem__, _costs(group))
    if group.settings.num_standby_replicas:
        _add_standbys(group, processes, stateful, racks)
    movements = Movements(processes, stateful, group.settings)
    moves = movements.active()
    moves += movements.standby()
    _deal_stateless(group, processes, racks)
    return moves > 0


def _racks(group: Group, processes: list[Process]) -> RackOptimiser | None:
    """Racks count only where all are known: those of the changelogs too if there are standbys."""
    if not racks_known(group, changelogs=False):
        return None
    if group.settings.num_standby_replicas and not racks_known(group, changelogs=True):
        return None
    return RackOptimiser(group, processes, by_subtopology(group.topology.tasks))


def _costs(group: Group) -> Costs:
    traffic, move = group.settings.traffic_cost, group.settings.non_overlap_cost
    return Costs(
        TRAFFIC_COST if traffic is None else traffic, NON_OVERLAP_COST if move is None else move
    )


def _deal(processes: list[Process], stateful: Sequence[TaskId]) -> None:
    for at, task in enumerate(stateful):
        processes[at % len(processes)].active.add(task)
    balance(processes, "active")


def _add_standbys(
    group: Group, processes: list[Process], stateful: Sequence[TaskId], racks: RackOptimiser | None
) -> None:
    settings = group.settings
    place_standbys(processes, stateful, settings.num_standby_replicas, settings.tags)
    if settings.tags:
        balance(processes, "standby", same_tags)
    else:
        balance(processes, "standby")
    if racks:
        racks.optimise_standbys(
            group.topology.changelogs.__getitem__,
            _costs(group),
            lambda source, target, task: (
                not settings.tags or keeps_apart(source, target, task, processes)
            ),
            "min_traffic",
        )


def _deal_stateless(group: Group, processes: list[Process], racks: RackOptimiser | None) -> None:
    stateless = group.topology.stateless
    if not stateless:
        return
    queue = LeastLoadedQueue(lambda process, task: True, by_active_load, processes)
    queue.offer_all()
    for task in stateless:
        process = queue.poll(task)
        assert process is not None
        process.active.add(task)
        queue.offer(process)
    if racks:
        costs = Costs(*STATELESS_COSTS)
        racks.optimise("active", stateless, group.topology.inputs.__getitem__, costs)
