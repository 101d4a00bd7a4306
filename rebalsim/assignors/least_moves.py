"""How few partitions could have changed hands: the yardstick for an assignor's stickiness."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rebalsim.domain.ids import Partition


def least_moves(
    before: Mapping[str, Collection[Partition]],
    members: Collection[str],
    partitions: Collection[Partition],
) -> int:
    """The fewest moves to any assignment of all partitions to these members with loads at most one
    apart.

    A move is a partition that had an owner and ends with another one; a partition that nobody had
    is not moved. All members may have all topics (with other subscriptions the yardstick would be
    too strict).

    Why this is exact: with P partitions and M members, loads at most one apart means that E = P
    mod M members have ⌊P/M⌋ + 1 and the others ⌊P/M⌋. A member keeps no more than it held and no
    more than its load, so those with at most ⌊P/M⌋ can keep all, and those with more keep ⌊P/M⌋,
    or one more if they are among the E. Giving the E extras to members that can use them is
    best, and can always be done: there are as many places as partitions, and any partition that
    is not kept may fill any place.
    """
    if not members:
        return 0
    low, extras = divmod(len(partitions), len(members))
    exist = dict.fromkeys(partitions)
    owned = sum(1 for held in before.values() for p in held if p in exist)
    held_by = [sum(1 for p in before.get(member, ()) if p in exist) for member in members]
    kept = sum(min(held, low) for held in held_by) + min(
        extras, sum(1 for held in held_by if held > low)
    )
    return owned - kept
