"""Where the file says a value: the node of a key, or the nearest block that would hold it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.resolve import Resolver
from rebalsim.scenario.roster import Roster, Seat

_PARTS = ("config", "handler", "listener", "state", "life", "assignor_cost")
# the node to fall back to, and the blocks that may say it, the nearest first
Blocks = tuple[Node, Sequence[Written | None]]


def place_of(story: Written, resolver: Resolver, kind: str, name: str, key: str) -> Node:
    """Of the keys parted by `|` the first that is there; else what stands for the whole."""
    finder = _BLOCKS.get(kind)
    fallback, blocks = finder(story, resolver, name, key) if finder else (story.node, ())
    for one in key.split("|"):
        for block in blocks:
            if isinstance(block, Written) and one in block.at:
                return block.at[one]
    return fallback


def _of_topic(story: Written, resolver: Resolver, name: str, key: str) -> Blocks:
    named = story.get("topics")
    if named is None or name not in named.node.keys:
        return story.node, ()
    return named.node.keys[name], (named.values.get(name),)


def _of_cluster(story: Written, resolver: Resolver, name: str, key: str) -> Blocks:
    cluster = story.get("cluster")
    config = cluster.get("config") if cluster is not None else None
    return story.at.get("cluster", story.node), (cluster, config)


def _of_group(story: Written, resolver: Resolver, name: str, key: str) -> Blocks:
    groups = story.get("groups")
    block = story.get("group") if groups is None else groups.values.get(name)
    roster = next((r for r in resolver.rosters.values() if r.group == name), None)
    seat = next(iter(roster.seats.values()), None) if roster is not None else None
    return _group_node(story, name), (block, *_of_seat(resolver, roster, seat))


def _of_consumer(story: Written, resolver: Resolver, name: str, key: str) -> Blocks:
    seat = resolver.seats.get(name)
    roster = next(
        (r for r in resolver.rosters.values() if seat is not None and r.seats.get(name) is seat),
        None,
    )
    blocks = _of_seat(resolver, roster, seat)
    if blocks and seat is not None and not key:
        return seat.node, blocks
    return _group_node(story, name), blocks


def _group_node(story: Written, name: str) -> Node:
    groups = story.get("groups")
    if groups is not None and name in groups.node.keys:
        node: Node = groups.node.keys[name]
        return node
    return story.at.get("group") or story.at.get("groups") or story.node


def _of_seat(
    resolver: Resolver, roster: Roster | None, seat: Seat | None
) -> tuple[Written | None, ...]:
    if roster is None or seat is None:
        return ()
    written = resolver.parts_of(roster, seat).written
    return written, *(written.get(part) for part in _PARTS)


def _of_connect(story: Written, resolver: Resolver, name: str, key: str) -> Blocks:
    connect = story.get("connect")
    fallback = story.at.get("connect", story.node)
    if connect is None:
        return fallback, ()
    named = connect.get("connectors")
    if named is not None and name in named.node.keys:
        return named.node.keys[name], (named.values.get(name),)
    return fallback, (connect.get("config"), connect)


_BLOCKS: dict[str, Callable[[Written, Resolver, str, str], Blocks]] = {
    "topic": _of_topic,
    "cluster": _of_cluster,
    "group": _of_group,
    "consumer": _of_consumer,
    "connect": _of_connect,
    "story": lambda story, resolver, name, key: (story.node, (story,)),
}
