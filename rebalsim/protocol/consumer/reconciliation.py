"""Moves one member towards its target (Kafka's CurrentAssignmentBuilder): first it gives up, then
it takes what is free.

A partition is free when no member has it assigned or pending; what this very member is about to
give back counts as free. Nothing here looks at other members but through the table of owners.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rebalsim.domain.server_target import Target
from rebalsim.protocol.consumer.member import STABLE, UNRELEASED, UNREVOKED, Held, Member

Owned = Mapping[str, Sequence[int]]
Owners = Mapping[str, Mapping[int, str]]  # topic id → partition → member id
Waiting = list[tuple[str, int, str]]  # (topic id, partition, who still holds it)


def reconcile(
    member: Member,
    epoch: int,
    target: Target,
    is_subscribed: Callable[[str], bool],
    has_no_names: bool,
    subscription_changed: bool,
    owned: Owned | None,
    owners: Owners,
    waiting: Waiting,
) -> Member:
    """The member as it is after this heartbeat; the same object if it has to stay as it is.
    Fills `waiting`.
    """
    if member.state is UNREVOKED:
        stays = _holds_any(owned, member.pending)
    else:
        stays = member.state is STABLE and member.epoch == epoch
    if not stays:
        return _towards(member, epoch, target, is_subscribed, owned, owners, waiting)
    if not subscription_changed:
        return member
    return _without_unsubscribed(member, is_subscribed, has_no_names, owned)


def _towards(
    member: Member,
    epoch: int,
    target: Target,
    is_subscribed: Callable[[str], bool],
    owned: Owned | None,
    owners: Owners,
    waiting: Waiting,
) -> Member:
    wanted = {topic: parts for topic, parts in target.items() if is_subscribed(topic)}
    kept, revoked = _parted(member.assigned, wanted)
    if revoked and _holds_any(owned, revoked):
        # Nothing is added yet and the epoch stays: the member has to give up first. It may hold its
        # old epoch for a whole rebalance timeout.
        return replace(
            member,
            state=UNREVOKED,
            epoch=member.epoch,
            previous_epoch=member.epoch,
            assigned=kept,
            pending=revoked,
        )
    for topic, free in _free(member, epoch, wanted, owners, waiting).items():
        kept[topic] = {**kept[topic], **free} if topic in kept else free
    # The epoch advances although partitions may still be missing (UNRELEASED); the one before it
    # stays valid for a lost answer.
    return replace(
        member,
        state=UNRELEASED if waiting else STABLE,
        epoch=epoch,
        previous_epoch=member.epoch,
        assigned=kept,
        pending={},
    )


def _parted(assigned: Held, wanted: Target) -> tuple[Held, Held]:
    """What of the assigned partitions stays, and what has to be given up."""
    kept: Held = {}
    revoked: Held = {}
    for topic, held in assigned.items():
        stay = frozenset(wanted.get(topic, ()))
        stays = {p: at for p, at in held.items() if p in stay}
        if stays:
            kept[topic] = stays
        if len(stays) < len(held):
            revoked[topic] = {p: at for p, at in held.items() if p not in stay}
    return kept, revoked


def _free(member: Member, epoch: int, wanted: Target, owners: Owners, waiting: Waiting) -> Held:
    """What the member may take now; what others still hold goes to `waiting`."""
    added: Held = {}
    for topic, partitions in wanted.items():
        held = member.assigned.get(topic, {})
        given_back = member.pending.get(topic, {})
        owner_of = owners.get(topic, {})
        free: dict[int, int] = {}
        for p in partitions:
            if p in held:
                continue
            owner = owner_of.get(p)
            if owner is None or p in given_back:
                free[p] = epoch
            else:
                waiting.append((topic, p, owner))
        if free:
            added[topic] = free
    return added


def _without_unsubscribed(
    member: Member, is_subscribed: Callable[[str], bool], has_no_names: bool, owned: Owned | None
) -> Member:
    """A member whose subscription shrank gives those topics up at once, even while no new target
    may be computed (KAFKA-19431).
    """
    if has_no_names and not member.pending:
        kept: Held = {}
        pending = member.assigned
    else:
        kept = {topic: held for topic, held in member.assigned.items() if is_subscribed(topic)}
        if len(kept) == len(member.assigned):
            return member
        pending = {topic: dict(held) for topic, held in member.pending.items()}
        for topic, held in member.assigned.items():
            if topic not in kept:
                pending.setdefault(topic, {}).update(held)
    if pending and _holds_any(owned, pending):
        return replace(
            member, state=UNREVOKED, previous_epoch=member.epoch, assigned=kept, pending=pending
        )
    return replace(member, previous_epoch=member.epoch, assigned=kept)


def _holds_any(owned: Owned | None, partitions: Held) -> bool:
    """Does the request leave it possible that the member still holds one of these? A request
    without a list proves nothing.
    """
    if owned is None:
        return True
    return any(
        p in partitions[topic]
        for topic, numbers in owned.items()
        if topic in partitions
        for p in numbers
    )


def is_subset(owned: Owned | None, assigned: Held) -> bool:
    """The request names its partitions, and all of them are assigned to the member."""
    return owned is not None and all(
        topic in assigned and all(p in assigned[topic] for p in numbers)
        for topic, numbers in owned.items()
    )
