"""Heartbeats and looks at the topics that come due when the script says so. Nothing is told of it: one
that brings no news is no event, and one that does is told by what it brings.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.script import Heartbeat, RefreshMetadata

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World


def heartbeat(world: World, name: str, deed: Heartbeat) -> Generator[Any, Any, None]:
    """Each of them that lives, and is in its group, beats so much later."""
    for who in deed.consumers:
        consumer = world.consumers.get(who)
        if consumer is not None and consumer.is_alive and not consumer.is_frozen:
            consumer.touch()
            consumer.heartbeat.come_due(deed.in_us, deed.late_us)
    yield from ()


def refresh_metadata(world: World, name: str, deed: RefreshMetadata) -> Generator[Any, Any, None]:
    """Each of them that lives sees its topics as they are."""
    for who in deed.consumers:
        consumer = world.consumers.get(who)
        if consumer is not None and consumer.is_alive and not consumer.is_frozen:
            consumer.touch()
            consumer.metadata.look_again()
    yield from ()


CARRIED_OUT = {Heartbeat: heartbeat, RefreshMetadata: refresh_metadata}
