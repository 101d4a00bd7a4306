"""Followers that serve fetches (KIP-392): the leader sends a client with a rack to the replica
nearby, for as long as metadata.max.age.ms.

A partition's first Fetch goes to its leader, and so do all look-ups. Where the brokers' selector
knows a replica nearer to the client, the leader answers at once, without records of that
partition, and the next Fetch goes there; when the time is over, to the leader again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalsim.simulation.bytes_across_racks import tell_bytes
from rebalsim.simulation.shares import Fetch, Share

if TYPE_CHECKING:
    from rebalsim.simulation.inside import FeedInside
    from rebalsim.simulation.ports import Client


def sent_elsewhere(feed: FeedInside, broker: int, shares: list[Share]) -> list[Share]:
    """Of what a Fetch asks this broker for: what it leads, and will not serve to this client."""
    brokers, rack = feed.consumer.world.brokers, feed.config.client_rack
    if not brokers.follows_racks or not rack:
        return []
    return [
        share
        for share in shares
        if brokers.leaders[share.partition] == broker != brokers.reads_from(share.partition, rack)
    ]


def go_elsewhere(feed: FeedInside, fetch: Fetch) -> None:
    """The leader's answer came: the next Fetch of these goes to the replica that it named."""
    now = feed.engine.now
    for share in fetch.elsewhere:
        if feed.shares.get(share.partition) is share and share.broker == fetch.broker:
            tell_bytes(feed.consumer, (share,))
            share.broker = feed.consumer.world.brokers.reads_from(
                share.partition, feed.config.client_rack
            )
            share.leased_us = now


def end_leases(feed: FeedInside) -> None:
    """Where a follower's time is over, the leader is asked again."""
    leaders, now = feed.consumer.world.brokers.leaders, feed.engine.now
    for share in feed.shares.values():
        if share.leased_us >= 0 and now >= share.leased_us + feed.config.metadata_max_age_us:
            _turn_to_leader(feed, share, leaders[share.partition])


def lose_replica(consumer: Client, broker: int) -> None:
    """A follower is gone, and the connection with it: back to the leaders."""
    feed = consumer.feed
    mine = [
        share for share in feed.shares.values() if share.broker == broker and share.leased_us >= 0
    ]
    if not mine:
        return
    consumer.touch()
    feed.flying.pop(broker, None)
    for share in mine:
        _turn_to_leader(feed, share, consumer.world.brokers.leaders[share.partition])
    consumer.wake_for_business()


def find_replicas(consumer: Client) -> None:
    """A broker came back: whose leader would now send it elsewhere hears so with its next Fetch."""
    feed = consumer.feed
    by_leader: dict[int, list[Share]] = {}
    for share in feed.shares.values():
        by_leader.setdefault(share.broker, []).append(share)
    if any(sent_elsewhere(feed, broker, shares) for broker, shares in by_leader.items()):
        consumer.touch()
        consumer.wake_for_business()


def _turn_to_leader(feed: FeedInside, share: Share, leader: int) -> None:
    tell_bytes(feed.consumer, (share,))
    share.broker, share.leased_us = leader, -1
