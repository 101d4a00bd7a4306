"""Corners of the lag: told where a partition stops being read, where reading begins again, piece
by piece while its reader catches up, and where it has caught up. Between corners the lag runs
straight, so nothing is told per record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rebalsim.simulation.engine import NEVER
from rebalsim.trace.events import LagMarked

if TYPE_CHECKING:
    from rebalsim.simulation.ports import Client, World
    from rebalsim.simulation.shares import Share


def mark(consumer: Client, shares: Iterable[Share]) -> None:
    """Where these stand now."""
    world = consumer.world
    if world.drive is not None:  # a recording tells of deliveries alone, and so does its replay
        return
    now = world.engine.now
    group, tell = consumer.group, world.tell
    for share in shares:
        flow = share.flow
        if share.is_placed and (flow.is_flowing_since < NEVER or flow.backlog):
            lag = flow.count(now) - share.offset
            share.is_behind = lag > 0
            if lag > 0:
                consumer.feed.is_behind = True
            tell(LagMarked(now, share.partition, group, max(0, lag)))


def mark_end(world: World) -> None:
    """At the horizon: everything that any group has ever read."""
    if world.drive is not None:
        return
    now = world.scenario.horizon_us
    for group, partition in world.progress.known():
        flow = world.flow(partition)
        if flow.is_flowing_since < NEVER or flow.backlog:
            world.tell(
                LagMarked(
                    now,
                    partition,
                    group,
                    max(0, flow.count(now) - world.progress.of(group, partition)),
                )
            )
