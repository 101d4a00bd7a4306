"""The coordinator of a consumer group (KIP-848) as step functions: a heartbeat, a timer or new metadata comes, effects go.

There is no barrier and no leader, and the coordinator never speaks first: everything happens in the heartbeat of the member that it
happens to, or of the member that happens to come next. A step changes the group it is handed and returns at once; a heartbeat that
changes nothing costs the same in a group of thousands. The group is changed before the log has it; every answer waits for the log.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rebalsim.domain.server_target import Target
from rebalsim.protocol.consumer import regexes
from rebalsim.protocol.consumer.admission import Admitted, admit, check_form, holder_of
from rebalsim.protocol.consumer.group import MS, REFRESH_US, ConsumerGroup, GroupState
from rebalsim.protocol.consumer.member import AWAY, UNREVOKED, Member
from rebalsim.protocol.consumer.reconciliation import Owned, Waiting, reconcile
from rebalsim.protocol.consumer.refusal import Refusal
from rebalsim.protocol.consumer.regexes import RegexChange
from rebalsim.protocol.consumer.target import compute, subscription_of
from rebalsim.protocol.consumer.topics import TopicsImage, names_of
from rebalsim.protocol.consumer_messages import (
    JOINS,
    LEAVES,
    LEAVES_FOR_A_WHILE,
    UNCHANGED,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from rebalsim.protocol.effects import Append, CancelTimer, Effect, Note, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error


def session_timer(member_id: str) -> str:
    """The key of the timer that removes a member not heard of."""
    return f"session:{member_id}"


def rebalance_timer(member_id: str) -> str:
    """The key of the timer that removes a member which does not give up what it was told to."""
    return f"rebalance:{member_id}"


def heartbeat(group: ConsumerGroup, number: int, request: ConsumerGroupHeartbeatRequest, now_us: int) -> list[Effect]:
    """A ConsumerGroupHeartbeat arrived."""
    effects: list[Effect] = []
    state = group.state
    try:
        check_form(group.settings, request)
        if request.epoch in (LEAVES, LEAVES_FOR_A_WHILE):
            response = _leave(group, request, effects)
        else:
            response = _beat(group, request, now_us, effects)
    except Refusal as refused:
        if refused.error in (Error.FENCED_MEMBER_EPOCH, Error.FENCED_INSTANCE_ID):
            effects.append(_note("Fenced", member_id=request.member_id, api="ConsumerGroupHeartbeat", error=refused.error.name))
        effects.append(Reply(number, ConsumerGroupHeartbeatResponse(refused.error, text=refused.text)))   # a thrown error does not wait
        return effects
    _tell_state(group, state, effects)
    effects.append(Reply(number, response, True))
    return effects


def timer_fired(group: ConsumerGroup, key: str, now_us: int) -> list[Effect]:
    """A timer set by an earlier step is due. One whose member is gone, or has moved on, does nothing."""
    effects: list[Effect] = []
    state, epoch = group.state, group.epoch
    what, _, member_id = key.partition(":")
    if what == regexes.TIMER:
        effects = regexes.resolve(group, now_us)
    else:
        member = group.members.get(member_id)
        armed = group.revocations.pop(member_id, None) if what == "rebalance" else None
        if member is None:
            return []
        if what == "session":
            _remove(group, member, "session-expired", effects, last_heard_us=now_us - group.settings.session_timeout_us)
        elif armed is not None and armed[0] == member.epoch:
            _remove(group, member, "rebalance-timeout", effects)
    if group.epoch > epoch:
        _append(group, effects)
    _tell_state(group, state, effects)
    return effects


def written(group: ConsumerGroup, number: int, error: Error | None, now_us: int) -> list[Effect]:
    """An append is committed, or failed. Nothing waits for it but the answer (a failed one would undo the step; that is not modelled)."""
    return []


def load(group: ConsumerGroup, now_us: int) -> list[Effect]:
    """Another broker's coordinator has read the group from the log: all sessions and owed revocations begin anew (onLoaded)."""
    effects: list[Effect] = []
    group.refresh_due_us = now_us
    group.regexes_are_due = False
    group.revocations.clear()
    for member in group.members.values():
        effects.append(SetTimer(session_timer(member.member_id), now_us + group.settings.session_timeout_us))
        if member.state is UNREVOKED:
            _time_revocation(group, member, now_us, effects)
    return effects


def unload(group: ConsumerGroup) -> list[Effect]:
    """The coordinator moves away: no timer of the group fires here any more."""
    effects: list[Effect] = [CancelTimer(regexes.TIMER)]
    for member_id in group.members:
        effects.append(CancelTimer(session_timer(member_id)))
        effects.append(CancelTimer(rebalance_timer(member_id)))
    return effects


def metadata_changed(group: ConsumerGroup, topics: TopicsImage, now_us: int) -> list[Effect]:
    """The cluster's topics are now these. Nothing happens yet: the next heartbeat of anybody looks at what the group subscribes to."""
    before = group.topics
    group.topics = topics
    group.topic_names.update(topics.name_of)
    if topics.name_of.keys() - before.name_of.keys():
        group.newest_topics_version = topics.version
    if any(before.by_name.get(name) != topics.by_name.get(name) for name in group.subscribed_names()):
        group.refresh_due_us = now_us
    return []


# ---------------------------------------------------------------------------------------------------- a heartbeat that stays


def _beat(
    group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, now_us: int, effects: list[Effect]
) -> ConsumerGroupHeartbeatResponse:
    admitted = admit(group, request)
    before = admitted.member
    member = _updated(before, request)
    notes: list[Effect] = []

    # 1. Has what is subscribed to changed? Then the group epoch grows.
    renamed = member.topics is not before.topics
    regex = RegexChange.NONE
    if group.regex_counts or member.regex:
        regex = regexes.note_regex(group, before, member, now_us, effects)
    bumps = renamed or regex is RegexChange.RESOLVED
    epoch = group.epoch
    metadata = None
    if bumps or now_us >= group.refresh_due_us:
        metadata = group.metadata_of(group.subscribed_names(before, member))
        is_news = metadata != group.metadata
        if bumps or is_news:
            epoch += 1
            trigger = "metadata-changed" if not bumps else "joined" if request.epoch == JOINS else "subscription-changed"
            notes.append(_note("EpochBumped", epoch=epoch, trigger=trigger, member_id=member.member_id))

    # 2. Is a target due, and may it be computed?
    assignment_epoch = group.assignment_epoch
    computed = None
    if epoch > assignment_epoch:
        until_us = _interval_ends_us(group)
        if until_us is None or now_us // MS * MS >= until_us:
            is_homogeneous = group.will_be_homogeneous(before, member) if metadata is not None else group.is_homogeneous
            try:
                computed = compute(group, before, member, is_homogeneous)
            except Exception as e:                # an assignor of the user's own may fail; Kafka answers so and changes nothing
                raise Refusal(Error.UNKNOWN_SERVER_ERROR, f"the assignor failed on epoch {epoch}: {type(e).__name__}: {e}") from e
            assignment_epoch = epoch
        elif group.interval_noted_for != epoch:
            group.interval_noted_for = epoch
            notes.append(_note("IntervalWaited", epoch=epoch, until_us=until_us))
    target: Target
    if computed is not None:
        target = computed.targets.get(member.member_id, {})
        notes.append(_note("AssignmentComputed", generation=epoch, assignor=computed.assignor, moved=computed.moved, least=-1, member_id=""))
    else:
        target = group.target_of(member.member_id, member.instance_id)

    # 3. Bring the member nearer to its target. Up to here the group is untouched: a refusal leaves it as it was.
    if renamed:                         # what the log keeps of a subscription is sorted, and from now on the member is what the log says
        member = replace(member, topics=names_of(tuple(sorted(member.topics.names))))
    resubscribed = renamed or regex is not RegexChange.NONE
    waiting: Waiting = []
    reached = member
    if resubscribed or not member.is_reconciled_to(assignment_epoch):
        reached = _reconciled(group, member, assignment_epoch, target, resubscribed, request.owned, waiting)

    _enter(group, admitted, member, notes)
    if metadata is not None:
        group.metadata = metadata
        group.refresh_due_us = now_us + REFRESH_US
    has_records = member is not before or epoch > group.epoch or admitted.is_new
    group.epoch = epoch
    if computed is not None:
        group.targets.update(computed.targets)
        group.assigned_at_us = now_us // MS * MS
        group.advance(assignment_epoch)
    if reached is not member and reached != member:
        has_records = True
        group.install(member, reached)
        _time_revocation(group, reached, now_us, effects)
    _tell_member(group, before, reached, waiting, notes)
    effects += notes
    effects.append(SetTimer(session_timer(member.member_id), now_us + group.settings.session_timeout_us))
    if has_records or computed is not None:
        _append(group, effects)

    response = ConsumerGroupHeartbeatResponse(Error.NONE, member.member_id, reached.epoch, group.settings.heartbeat_interval_us)
    if request.epoch == JOINS or request.is_full or reached.assigned != before.assigned:
        response.assignment = {topic: tuple(sorted(held)) for topic, held in reached.assigned.items()}
    return response


def _updated(member: Member, request: ConsumerGroupHeartbeatRequest) -> Member:
    """The member with what the request brings; the same object if it brings nothing new."""
    changes: dict[str, Any] = {}
    if request.topics is not None:
        topics = names_of(tuple(request.topics))
        if topics.names != member.topics.names:
            changes["topics"] = topics
    if request.regex is not None and request.regex != member.regex:
        changes["regex"] = request.regex
    if request.rebalance_timeout_us not in (UNCHANGED, member.rebalance_timeout_us):
        changes["rebalance_timeout_us"] = request.rebalance_timeout_us
    if request.instance_id is not None and request.instance_id != member.instance_id:
        changes["instance_id"] = request.instance_id
    if request.rack_id is not None and request.rack_id != member.rack_id:
        changes["rack_id"] = request.rack_id
    if request.assignor is not None and request.assignor != member.assignor:
        changes["assignor"] = request.assignor
    if request.client_id != member.client_id:
        changes["client_id"] = request.client_id
    if member.classic is not None:
        changes["classic"] = None
    return replace(member, **changes) if changes else member


def _interval_ends_us(group: ConsumerGroup) -> int | None:
    """Before when no new target may be computed (KIP-1263); None if it may be at any time."""
    if group.assigned_at_us is None or not group.settings.assignment_interval_us:
        return None
    return group.assigned_at_us + group.settings.assignment_interval_us


def _reconciled(
    group: ConsumerGroup, member: Member, epoch: int, target: Target, resubscribed: bool, owned: Owned | None, waiting: Waiting
) -> Member:
    names = frozenset(subscription_of(group, member)) if member.regex else member.topics.names
    name_of = group.topics.name_of
    return reconcile(
        member,
        epoch,
        target,
        lambda topic: name_of.get(topic) in names,              # a deleted topic has no name any more, so it is given up
        not names,
        resubscribed,
        owned,
        group.owners,
        waiting,
    )


def _enter(group: ConsumerGroup, admitted: Admitted, member: Member, notes: list[Effect]) -> None:
    """Put the member in the group: as a new one, in the place of a static one, or as its changed self."""
    replaced = admitted.replaces
    group.exists = True
    if replaced is not None:
        target = group.targets.get(replaced.member_id, {})
        group.remove(replaced)
        # Its timers stay armed; they find nobody, unless the newcomer bears the same id (then the session timer is set anew below).
        group.targets[member.member_id] = target
        notes.insert(0, _note("MemberRemoved", member_id=replaced.member_id, why="replaced", last_heard_us=-1))
    if admitted.is_new:
        how = "replacement" if replaced is not None else "static" if member.instance_id is not None else "new"
        notes.insert(1 if replaced is not None else 0, _note("MemberAdded", member_id=member.member_id, how=how))
        group.install(None, member)
    elif member is not admitted.member:
        group.install(admitted.member, member)
    if admitted.member.regex != member.regex:
        group.forget_unused_regexes()


def _time_revocation(group: ConsumerGroup, member: Member, now_us: int, effects: list[Effect]) -> None:
    if member.state is UNREVOKED:
        group.revocations[member.member_id] = (member.epoch, member.rebalance_timeout_us)
        effects.append(SetTimer(rebalance_timer(member.member_id), now_us + member.rebalance_timeout_us))
    elif group.revocations.pop(member.member_id, None) is not None:
        effects.append(CancelTimer(rebalance_timer(member.member_id)))


# ---------------------------------------------------------------------------------------------------- leaving


def _leave(group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, effects: list[Effect]) -> ConsumerGroupHeartbeatResponse:
    if not group.exists:
        raise Refusal(Error.GROUP_ID_NOT_FOUND, f"there is no group {group.name}")
    if request.instance_id is not None:
        member = holder_of(group, request.instance_id, request.member_id)
    else:
        known: Member | None = group.members.get(request.member_id)
        if known is None:
            raise Refusal(Error.UNKNOWN_MEMBER_ID, f"{request.member_id} is no member")
        member = known
    if request.epoch == LEAVES_FOR_A_WHILE:
        _go_away(group, member, effects)
    else:
        _remove(group, member, "left", effects)
    _append(group, effects)
    return ConsumerGroupHeartbeatResponse(Error.NONE, member.member_id, request.epoch)


def _go_away(group: ConsumerGroup, member: Member, effects: list[Effect]) -> None:
    """A static member leaves for a while: its partitions wait for it. Its session goes on from its last heartbeat, not from now."""
    assigned = {topic: dict.fromkeys(held, 0) for topic, held in member.assigned.items()}
    away = replace(member, epoch=AWAY, assigned=assigned, pending={})
    group.install(member, away)
    _tell_member(group, member, away, [], effects)


def _remove(group: ConsumerGroup, member: Member, why: str, effects: list[Effect], last_heard_us: int = -1) -> None:
    """A member is gone: what it held is free at once, a new target is due, and the next heartbeat of anybody computes it."""
    group.remove(member)
    group.forget_unused_regexes()
    group.epoch += 1
    group.metadata = group.metadata_of(group.subscribed_names())
    group.revocations.pop(member.member_id, None)
    effects.append(CancelTimer(session_timer(member.member_id)))
    effects.append(CancelTimer(rebalance_timer(member.member_id)))
    effects.append(_note("MemberRemoved", member_id=member.member_id, why=why, last_heard_us=last_heard_us))
    effects.append(_note("EpochBumped", epoch=group.epoch, trigger=why, member_id=member.member_id))


# ---------------------------------------------------------------------------------------------------- writing and telling


def _append(group: ConsumerGroup, effects: list[Effect]) -> None:
    group.appends += 1
    effects.append(Append(group.appends, "consumer group"))



def _note(kind: str, **facts: Any) -> Note:
    return Note(kind, facts)


def _tell_state(group: ConsumerGroup, before: GroupState, effects: list[Effect]) -> None:
    after = group.state
    if after is not before:
        effects.append(
            _note("GroupStateChanged", before=before.value, after=after.value, generation=group.epoch, trigger="", member_id="", reason="")
        )


def _tell_member(group: ConsumerGroup, before: Member, after: Member, waiting: Waiting, notes: list[Effect]) -> None:
    if after is before:
        return
    member_id = after.member_id
    if before.pending and after.pending != before.pending:
        still = after.pending
        given = {topic: [p for p in held if p not in still.get(topic, {}) and p not in after.assigned.get(topic, {})]
                 for topic, held in before.pending.items()}
        released = group.partitions(given)
        if released:
            notes.append(_note("PartitionsReleased", member_id=member_id, partitions=released))
    if (before.epoch, before.state) != (after.epoch, after.state):
        notes.append(
            _note("MemberStateChanged", member_id=member_id, before=before.state.label, after=after.state.label, epoch=after.epoch)
        )
    if waiting:
        told = sorted((group.partition(topic, p), owner) for topic, p, owner in waiting)
        notes.append(
            _note("ReleaseAwaited", member_id=member_id, partitions=tuple(p for p, _ in told), owners=tuple(o for _, o in told))
        )
