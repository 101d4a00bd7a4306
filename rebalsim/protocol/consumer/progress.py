"""What happens to a group and a member when the member was heard: the group epoch, a target if one
is due, a step towards the target.

Shared by the heartbeats of the consumer protocol and the joins of classic members in a consumer
group. Everything is worked out first and put into the group then, so that a refusal on the way
leaves no trace.
"""

from __future__ import annotations

from dataclasses import replace

from rebalsim.domain.membership import Arrival, Removal
from rebalsim.domain.server_target import Target
from rebalsim.protocol.consumer import regexes
from rebalsim.protocol.consumer.admission import Admitted
from rebalsim.protocol.consumer.group import MS, REFRESH_US, ConsumerGroup
from rebalsim.protocol.consumer.member import AWAY, UNREVOKED, Member
from rebalsim.protocol.consumer.reconciliation import Owned, Waiting, reconcile
from rebalsim.protocol.consumer.regexes import RegexChange
from rebalsim.protocol.consumer.target import Computed, compute, subscription_of
from rebalsim.protocol.consumer.topics import Names, names_of
from rebalsim.protocol.effects import Append, CancelTimer, Effect, SetTimer
from rebalsim.protocol.notes import note


def session_timer(member_id: str) -> str:
    """The key of the timer that removes a member from which no heartbeat comes."""
    return f"session:{member_id}"


def rebalance_timer(member_id: str) -> str:
    """The key of the timer that removes a member which does not give up what it was told to."""
    return f"rebalance:{member_id}"


def join_timer(member_id: str) -> str:
    """The key of the timer that removes a classic member which was told to join again and
    does not.
    """
    return f"join:{member_id}"


def sync_timer(member_id: str) -> str:
    """The key of the timer that removes a classic member which joined and does not fetch its
    assignment.
    """
    return f"sync:{member_id}"


def progress(
    group: ConsumerGroup,
    admitted: Admitted,
    member: Member,
    owned: Owned | None,
    joins: bool,
    now_us: int,
    effects: list[Effect],
    said: Names | None = None,
) -> Member:
    """The member was admitted and is now as `member` says; returns what it becomes. Its session
    is the caller's. `said`: the topics as its request listed them: the assignor that runs now
    walks that very set, whose order may be another than that of the equal one before.
    """
    before = admitted.member
    notes: list[Effect] = []

    # 1. Has what is subscribed to changed? Then the group epoch grows.
    renamed = member.topics is not before.topics
    regex = RegexChange.NONE
    if group.regex_counts or member.regex:
        regex = regexes.note_regex(group, before, member, now_us, effects)
    epoch = group.epoch
    metadata = None
    why = "joined" if joins else "subscription-changed"
    bumps = renamed or regex is RegexChange.RESOLVED
    if bumps or now_us >= group.refresh_due_us:
        metadata = group.metadata_of(group.subscribed_names(before, member))
        if bumps or metadata != group.metadata:
            epoch += 1
            trigger = why if bumps else "metadata-changed"
            notes.append(
                note("EpochBumped", epoch=epoch, trigger=trigger, member_id=member.member_id)
            )

    # 2. Is a target due, and may it be computed?
    computed = None
    if epoch > group.assignment_epoch and _may_compute(group, epoch, now_us, notes):
        computed = _computed(group, before, member, said, metadata is not None, epoch, notes)
        target = computed.targets.get(member.member_id, {})
    else:
        target = group.target_of(member.member_id, member.instance_id)

    # 3. Bring the member nearer to its target. Up to here the group is untouched: a refusal leaves
    # it as it was. What the log keeps of a subscription is sorted, and from now on the member is
    # what the log says.
    if renamed:
        member = replace(member, topics=names_of(tuple(sorted(member.topics.names))))
    resubscribed = renamed or regex is not RegexChange.NONE
    waiting: Waiting = []
    reached = member
    goal = group.assignment_epoch if computed is None else epoch
    if resubscribed or not member.is_reconciled_to(goal):
        reached = _reconciled(group, member, goal, target, resubscribed, owned, waiting)

    _enter(group, admitted, member, notes)
    if metadata is not None:
        group.metadata = metadata
        group.refresh_due_us = now_us + REFRESH_US
    has_records = member is not before or epoch > group.epoch or admitted.is_new
    group.epoch = epoch
    if computed is not None:
        group.targets.update(computed.targets)
        group.assigned_at_us = now_us // MS * MS
        group.advance(epoch)
    if reached is not member and reached != member:
        has_records = True
        group.install(member, reached)
        time_revocation(group, reached, now_us, effects)
    _tell_member(group, before, reached, waiting, notes)
    effects += notes
    if has_records or computed is not None:
        append(group, effects)
    return reached


def _may_compute(group: ConsumerGroup, epoch: int, now_us: int, notes: list[Effect]) -> bool:
    """Whether the last target is long enough ago for a new one (KIP-1263)."""
    if group.assigned_at_us is None or not group.settings.assignment_interval_us:
        return True
    until_us = group.assigned_at_us + group.settings.assignment_interval_us
    if now_us // MS * MS >= until_us:
        return True
    if group.interval_noted_for != epoch:
        group.interval_noted_for = epoch
        notes.append(note("IntervalWaited", epoch=epoch, until_us=until_us))
    return False


def _computed(
    group: ConsumerGroup,
    before: Member,
    member: Member,
    said: Names | None,
    is_metadata_new: bool,
    epoch: int,
    notes: list[Effect],
) -> Computed:
    """The target of this epoch, not yet put into the group."""
    is_homogeneous = (
        group.will_be_homogeneous(before, member) if is_metadata_new else group.is_homogeneous
    )
    listed = member if said is None else replace(member, topics=said)
    made = compute(group, before, listed, is_homogeneous)
    of_leader = {"least": -1, "member_id": ""}  # a classic group's leader would tell these
    notes.append(
        note(
            "AssignmentComputed",
            generation=epoch,
            assignor=made.assignor,
            moved=made.moved,
            **of_leader,
        )
    )
    return made


def _reconciled(
    group: ConsumerGroup,
    member: Member,
    epoch: int,
    target: Target,
    resubscribed: bool,
    owned: Owned | None,
    waiting: Waiting,
) -> Member:
    names = frozenset(subscription_of(group, member)) if member.regex else member.topics.names
    name_of = group.topics.name_of
    return reconcile(
        member,
        epoch,
        target,
        # a deleted topic has no name, so its partitions are given up
        lambda topic: name_of.get(topic) in names,
        not names,
        resubscribed,
        owned,
        group.owners,
        waiting,
    )


def _enter(group: ConsumerGroup, admitted: Admitted, member: Member, notes: list[Effect]) -> None:
    """Put the member in the group: as a new one, in the place of a static one, or as its changed
    self.
    """
    replaced = admitted.replaces
    group.exists = True
    if replaced is not None:
        target = group.targets.get(replaced.member_id, {})
        group.remove(replaced)
        # Its timers stay armed; they find nobody, unless the newcomer bears the same id (then the
        # session timer is set anew below).
        group.targets[member.member_id] = target
        notes.insert(
            0,
            note(
                "MemberRemoved",
                member_id=replaced.member_id,
                why=Removal.REPLACED,
                last_heard_us=-1,
            ),
        )
    if admitted.is_new:
        how = (
            Arrival.REPLACEMENT
            if replaced is not None
            else Arrival.STATIC
            if member.instance_id is not None
            else Arrival.NEW
        )
        notes.insert(
            1 if replaced is not None else 0,
            note("MemberAdded", member_id=member.member_id, how=how),
        )
        # itself, where it comes with another instance id than it had
        group.install(group.members.get(member.member_id), member)
        if replaced is not None and replaced.instance_id is not None:
            group.statics[replaced.instance_id] = member.member_id
    elif member is not admitted.member:
        group.install(admitted.member, member)
    if admitted.member.regex != member.regex:
        group.forget_unused_regexes()


def time_revocation(
    group: ConsumerGroup, member: Member, now_us: int, effects: list[Effect]
) -> None:
    """A member that owes a revocation has its rebalance timeout for it; a classic one has a join
    timer instead.
    """
    if member.classic is not None:
        return
    if member.state is UNREVOKED:
        group.revocations[member.member_id] = (member.epoch, member.rebalance_timeout_us)
        effects.append(
            SetTimer(rebalance_timer(member.member_id), now_us + member.rebalance_timeout_us)
        )
    elif group.revocations.pop(member.member_id, None) is not None:
        effects.append(CancelTimer(rebalance_timer(member.member_id)))


def go_away(group: ConsumerGroup, member: Member, effects: list[Effect]) -> None:
    """A static member leaves for a while: its partitions wait for it. Its session goes on from
    its last heartbeat, not from now.
    """
    assigned = {topic: dict.fromkeys(held, 0) for topic, held in member.assigned.items()}
    away = replace(member, epoch=AWAY, assigned=assigned, pending={})
    group.install(member, away)
    _tell_member(group, member, away, [], effects)


def remove(
    group: ConsumerGroup, member: Member, why: str, effects: list[Effect], last_heard_us: int = -1
) -> None:
    """A member is gone: what it held is free at once, a new target is due, and the next
    heartbeat of anybody computes it.
    """
    group.remove(member)
    group.forget_unused_regexes()
    group.epoch += 1
    group.metadata = group.metadata_of(group.subscribed_names())
    group.revocations.pop(member.member_id, None)
    effects.append(CancelTimer(session_timer(member.member_id)))
    effects.append(CancelTimer(rebalance_timer(member.member_id)))
    # also for a member that was a classic one before
    group.awaited_joins.pop(member.member_id, None)
    effects.append(CancelTimer(join_timer(member.member_id)))
    effects.append(CancelTimer(sync_timer(member.member_id)))
    effects.append(
        note("MemberRemoved", member_id=member.member_id, why=why, last_heard_us=last_heard_us)
    )
    effects.append(note("EpochBumped", epoch=group.epoch, trigger=why, member_id=member.member_id))


def append(group: ConsumerGroup, effects: list[Effect]) -> None:
    """Something of this step has to be in the log before anybody hears of it."""
    group.appends += 1
    effects.append(Append(group.appends, "consumer group"))


def _tell_member(
    group: ConsumerGroup, before: Member, after: Member, waiting: Waiting, notes: list[Effect]
) -> None:
    if after is before:
        return
    member_id = after.member_id
    if before.pending and after.pending != before.pending:
        still = after.pending
        given = {
            topic: [
                p
                for p in held
                if p not in still.get(topic, {}) and p not in after.assigned.get(topic, {})
            ]
            for topic, held in before.pending.items()
        }
        released = group.partitions(given)
        if released:
            notes.append(note("PartitionsReleased", member_id=member_id, partitions=released))
    if (before.epoch, before.state) != (after.epoch, after.state):
        notes.append(
            note(
                "MemberStateChanged",
                member_id=member_id,
                before=before.state.label,
                after=after.state.label,
                epoch=after.epoch,
            )
        )
    if waiting:
        told = sorted((group.partition(topic, p), owner) for topic, p, owner in waiting)
        notes.append(
            note(
                "ReleaseAwaited",
                member_id=member_id,
                partitions=tuple(p for p, _ in told),
                owners=tuple(o for _, o in told),
            )
        )
