"""Bytes that were fetched, and whether they crossed racks on their way: told when a partition
changes hands, its broker, or at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rebalsim.trace.events import BytesFetched

if TYPE_CHECKING:
    from rebalsim.simulation.ports import Client
    from rebalsim.simulation.shares import Share


def tell_bytes(consumer: Client, shares: Iterable[Share], at_us: int | None = None) -> None:
    """What these brought since it was last told. Nothing where racks play no part."""
    world = consumer.world
    racks = world.brokers.racks
    if not consumer.rack or not racks[world.brokers.ids[0]] or world.drive is not None:
        return
    now = world.engine.now if at_us is None else at_us
    for share in shares:
        if share.counted < 0 or share.broker < 0:
            continue
        offset = consumer.feed.offset_of(share)
        if offset > share.counted:
            size = (offset - share.counted) * world.record_bytes(share.partition.topic)
            share.counted = offset
            world.tell(
                BytesFetched(
                    now,
                    consumer.name,
                    share.partition,
                    share.broker,
                    size,
                    racks[share.broker] != consumer.rack,
                )
            )
