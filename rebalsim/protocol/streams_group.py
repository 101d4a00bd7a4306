"""The coordinator of a streams group (KIP-1071) as step functions: a heartbeat, a timer, new
metadata or another setting comes, effects go.

As under the consumer protocol the coordinator never speaks first: everything happens in the
heartbeat of the member that it happens to, or of whoever comes next. Two things are its own: the
topology, which has to fit the topics there are, and the delay after the first join, whose timer
computes a target that members learn of at their next heartbeat.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.membership import Arrival, Removal
from rebalsim.domain.streams_target import StreamsMember
from rebalsim.protocol.consumer.refusal import Refusal
from rebalsim.protocol.consumer.topics import TopicsImage
from rebalsim.protocol.effects import Append, CancelTimer, Effect, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.notes import note, tell_state
from rebalsim.protocol.streams.group import StreamsGroup
from rebalsim.protocol.streams.member import UNREVOKED, Member
from rebalsim.protocol.streams.reconciliation import reconcile
from rebalsim.protocol.streams.topology import Configured, StreamsTopology, configure
from rebalsim.protocol.streams_messages import (
    ASSIGNMENT_DELAYED,
    JOINS,
    LEAVES,
    NO_TASKS,
    SHUTDOWN_APPLICATION,
    STALE_TOPOLOGY,
    UNCHANGED,
    Roles,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

DELAY = "initial-delay"  # the key of the timer that ends it


def session_timer(member_id: str) -> str:
    """The key of the timer that removes a member from which no heartbeat comes."""
    return f"session:{member_id}"


def rebalance_timer(member_id: str) -> str:
    """The key of the timer that removes a member which does not give up what it was told to."""
    return f"rebalance:{member_id}"


def heartbeat(
    group: StreamsGroup, number: int, request: StreamsGroupHeartbeatRequest, now_us: int
) -> list[Effect]:
    """A StreamsGroupHeartbeat arrived."""
    effects: list[Effect] = []
    state = group.state
    try:
        check_form(request)
        if request.epoch == LEAVES:
            response = _leave(group, request, effects)
        else:
            response = _beat(group, request, now_us, effects)
    except Refusal as refused:
        if refused.error is Error.FENCED_MEMBER_EPOCH:
            facts = {"member_id": request.member_id, "error": refused.error.name}
            effects.append(note("Fenced", api=KafkaApi.STREAMS_HEARTBEAT, **facts))
        effects.append(
            Reply(number, StreamsGroupHeartbeatResponse(refused.error, text=refused.text))
        )
        return effects
    tell_state(group, state, effects)
    effects.append(Reply(number, response, True))
    return effects


def timer_fired(group: StreamsGroup, key: str, now_us: int) -> list[Effect]:
    """A timer set by an earlier step is due. One whose member is gone, or has moved on, does
    nothing.
    """
    effects: list[Effect] = []
    state = group.state
    if key == DELAY:
        group.delayed = False
        _end_delay(group, now_us, effects)
    else:
        what, _, member_id = key.partition(":")
        armed = group.revocations.pop(member_id, None) if what == "rebalance" else None
        member = group.members.get(member_id)
        if member is None:
            return []
        if what == "session":
            _remove(group, member, Removal.SESSION_EXPIRED, effects)
        elif armed == member.epoch:
            _remove(group, member, Removal.REBALANCE_TIMEOUT, effects)
    tell_state(group, state, effects)
    return effects


def _end_delay(group: StreamsGroup, now_us: int, effects: list[Effect]) -> None:
    """The initial delay is over: a target, unless there is nobody, the last one is too young, or
    nobody but the group's very first member was heard (a group that is not in the log yet forgets
    what it made of its topology).
    """
    is_due = bool(group.members) and group.epoch > group.assignment_epoch
    if is_due and group.configured is not None and not _waits(group, now_us):
        _retarget(group, group.configured, None, group.epoch, now_us, effects)
        _append(group, effects)


def metadata_changed(group: StreamsGroup, topics: TopicsImage) -> list[Effect]:
    """The cluster's topics are now these: the next heartbeat of anybody looks, if one of the
    topology's is among those that changed.
    """
    before = group.topics
    group.topics = topics
    names = group.topology.topics if group.topology else ()
    if any(before.by_name.get(name) != topics.by_name.get(name) for name in names):
        group.refresh_due = True
    return []


def load(group: StreamsGroup, now_us: int) -> list[Effect]:
    """Another broker's coordinator has read the group from the log: all sessions begin anew."""
    group.refresh_due = True
    group.configured = None
    effects: list[Effect] = []
    for member in group.members.values():
        effects.append(
            SetTimer(session_timer(member.member_id), now_us + group.settings.session_timeout_us)
        )
        if member.state is UNREVOKED:
            effects.append(_time_revocation(group, member, now_us))
    return effects


def unload(group: StreamsGroup) -> list[Effect]:
    """The coordinator moves away: no timer of the group fires here any more."""
    effects: list[Effect] = [CancelTimer(DELAY)]
    group.delayed = False
    for member_id in group.members:
        effects.append(CancelTimer(session_timer(member_id)))
        effects.append(CancelTimer(rebalance_timer(member_id)))
    return effects


# ------------------------------------------------------------------------------------- who may speak


def check_form(request: StreamsGroupHeartbeatRequest) -> None:
    """Is it a request at all? (GroupCoordinatorService#throwIfStreamsGroupHeartbeat…)"""
    lists = (request.active, request.standby, request.warmup)
    joins = request.epoch == JOINS
    wrong = (
        (request.instance_id is not None, "there are no static members yet"),
        (bool(request.warmup), "there are no warm-up tasks yet"),
        (not request.member_id, "the member id is empty; the client makes it"),
        (request.rack_id == "", "the rack id is empty"),
        (request.epoch < LEAVES, f"there is no member epoch {request.epoch}"),
        (
            any(tasks is None for tasks in lists) and any(tasks is not None for tasks in lists),
            "owned tasks come in all three lists or in none",
        ),
        (
            joins and request.rebalance_timeout_us == UNCHANGED,
            "a joining member must bring its rebalance timeout",
        ),
        (joins and request.topology is None, "a joining member must bring its topology"),
        (joins and not request.process, "a joining member must bring its process id"),
        (
            joins and any(tasks is None or tasks for tasks in lists),
            "a joining member must bring empty lists of owned tasks",
        ),
        (
            not joins and request.topology is not None,
            "a topology can only be brought when joining",
        ),
    )
    for is_wrong, text in wrong:
        if is_wrong:
            raise Refusal(Error.INVALID_REQUEST, text)


def _admit(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> tuple[Member, bool]:
    """The member that a request speaks for, and whether it is new."""
    joins = request.epoch == JOINS
    if not group.exists and not joins:
        raise Refusal(Error.GROUP_ID_NOT_FOUND, f"there is no group {group.name}")
    if joins and len(group.members) >= group.settings.max_size:
        raise Refusal(
            Error.GROUP_MAX_SIZE_REACHED, f"the group has its {group.settings.max_size} members"
        )
    member = group.members.get(request.member_id)
    if member is None:
        if not joins:
            raise Refusal(Error.UNKNOWN_MEMBER_ID, f"{request.member_id} is no member")
        return Member(request.member_id), True
    if not joins and request.epoch != member.epoch:
        _check_older_epoch(member, request)
    return member, False


def _check_older_epoch(member: Member, request: StreamsGroupHeartbeatRequest) -> None:
    """The answer that brought the newer epoch may have been lost. Lists of tasks that are all the
    member's prove that no harm is done.
    """
    owned = request.owned
    is_previous = request.epoch < member.epoch and request.epoch == member.previous_epoch
    if not is_previous or owned is None or not owned.within(member.assigned):
        raise Refusal(
            Error.FENCED_MEMBER_EPOCH, f"the member's epoch is {member.epoch}, not {request.epoch}"
        )


# ------------------------------------------------------------------------------------- one heartbeat


def _beat(
    group: StreamsGroup, request: StreamsGroupHeartbeatRequest, now_us: int, effects: list[Effect]
) -> StreamsGroupHeartbeatResponse:
    before, is_new = _admit(group, request)
    member = _updated(before, request)
    topology = _topology(group, request)
    statuses = [STALE_TOPOLOGY] if member.topology_epoch < topology.epoch else []
    bump = is_new or member != before
    if group.topology is None or group.configured is None or group.refresh_due:
        bump |= _look_at_topics(group, topology)
    configured = group.configured
    assert configured is not None
    validated = topology.epoch if configured.is_ready else -1
    if configured.is_ready:
        _check_tasks(configured, request)
    standbys = group.settings.num_standby_replicas
    bump |= validated != group.validated_epoch or standbys != group.standbys_then
    was_empty = not group.members
    _set_topology(group, topology, validated)
    if bump:
        _bump(group, is_new, before, effects)
    if was_empty and not group.delayed and group.settings.initial_delay_us > 0:
        group.delayed = True
        effects.append(SetTimer(DELAY, now_us + group.settings.initial_delay_us))
    target = group.targets.get(member.member_id, NO_TASKS)
    if group.epoch > group.assignment_epoch:
        if _waits(group, now_us):
            statuses.append(ASSIGNMENT_DELAYED)
        else:
            _retarget(group, configured, member, group.epoch, now_us, effects)
            target = group.targets.get(member.member_id, NO_TASKS)
    reached = reconcile(group, member, group.assignment_epoch, target, request.owned)
    if not group.exists:
        group.configured = None  # Kafka has it in an object that the log's record replaces
    group.exists = True
    group.install(None if is_new else before, reached)
    _tell_member(before, reached, is_new, effects)
    if reached != member:
        effects.append(_time_revocation(group, reached, now_us))
    effects.append(
        SetTimer(session_timer(reached.member_id), now_us + group.settings.session_timeout_us)
    )
    return _answer(group, request, before, reached, configured, statuses)


def _answer(
    group: StreamsGroup,
    request: StreamsGroupHeartbeatRequest,
    before: Member,
    reached: Member,
    configured: Configured,
    statuses: list[int],
) -> StreamsGroupHeartbeatResponse:
    if request.shutdown and group.shutdown_by is None:
        group.shutdown_by = reached.member_id
    if configured.problem is not None:
        statuses.append(configured.problem)
    if group.shutdown_by is not None:
        statuses.append(SHUTDOWN_APPLICATION)
    tells = request.epoch == JOINS or reached.assigned != before.assigned
    return StreamsGroupHeartbeatResponse(
        Error.NONE,
        reached.member_id,
        reached.epoch,
        group.settings.heartbeat_interval_us,
        reached.assigned if tells else None,
        tuple(statuses),
        configured.to_create,
    )


def _updated(member: Member, request: StreamsGroupHeartbeatRequest) -> Member:
    """The member with what the request brings."""
    changes: dict[str, Any] = {"client_id": request.client_id}
    if request.rebalance_timeout_us != UNCHANGED:
        changes["rebalance_timeout_us"] = request.rebalance_timeout_us
    if request.topology is not None:
        changes["topology_epoch"] = request.topology.epoch
    if request.process is not None:
        changes["process"] = request.process
    if request.rack_id is not None:
        changes["rack_id"] = request.rack_id
    if request.tags is not None:
        changes["tags"] = request.tags
    return replace(member, **changes)


def _topology(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> StreamsTopology:
    """The group's topology; the first one sent is kept, and no other taken as long as the group
    is there.
    """
    sent, kept = request.topology, group.topology
    if kept is None:
        if sent is None:
            raise Refusal(Error.UNKNOWN_SERVER_ERROR, "nobody has sent a topology")
        return sent
    if sent is not None and sent.epoch >= kept.epoch and sent != kept:
        raise Refusal(Error.INVALID_REQUEST, "a group's topology cannot be changed yet")
    return kept


def _set_topology(group: StreamsGroup, topology: StreamsTopology, validated: int) -> None:
    group.topology = topology
    group.validated_epoch = validated


def _look_at_topics(group: StreamsGroup, topology: StreamsTopology) -> bool:
    """The topology held against the topics that exist; says whether these changed."""
    is_first = group.topology is None
    kept, group.topology = group.topology, topology
    now = group.wanted_topics
    group.topology = kept
    changed = is_first or now != group.metadata
    if changed or group.configured is None:
        counts = {name: topic.partitions for name, topic in group.topics.by_name.items()}
        group.configured = configure(topology, counts)
    return changed


def _check_tasks(configured: Configured, request: StreamsGroupHeartbeatRequest) -> None:
    owned = (*(request.active or ()), *(request.standby or ()), *(request.warmup or ()))
    for task in sorted(owned):
        if task.number >= configured.tasks.get(task.subtopology, 0):
            raise Refusal(Error.INVALID_REQUEST, f"there is no task {task}")


def _bump(group: StreamsGroup, is_new: bool, before: Member, effects: list[Effect]) -> None:
    group.epoch += 1
    group.metadata = group.wanted_topics
    group.refresh_due = False
    group.standbys_then = group.settings.num_standby_replicas
    trigger = "joined" if is_new else "changed"
    effects.append(
        note("EpochBumped", epoch=group.epoch, trigger=trigger, member_id=before.member_id)
    )


def _waits(group: StreamsGroup, now_us: int) -> bool:
    """No target may be computed now: the first members are waited for, or the last target is too
    young. Nobody's timer ends that; the next heartbeat after it does.
    """
    if group.delayed:
        return True
    last = group.assigned_at_us
    return last is not None and now_us - last < group.settings.assignment_interval_us


def _retarget(
    group: StreamsGroup,
    configured: Configured,
    member: Member | None,
    epoch: int,
    now_us: int,
    effects: list[Effect],
) -> None:
    """Computes a new target; nobody gets anything while the topology is not ready."""
    members = [
        member if member is not None and known.member_id == member.member_id else known
        for known in group.members.values()
    ]
    if member is not None and member.member_id not in group.members:
        members.append(member)
    targets = dict.fromkeys([each.member_id for each in members], NO_TASKS)
    if configured.is_ready:
        targets = _assigned(group, configured, members)
    moved = _moved(group.targets, targets)
    group.targets = targets
    group.assigned_at_us = now_us
    group.advance(epoch)
    facts = {"assignor": "sticky", "moved": moved}
    effects.append(note("TargetComputed", epoch=epoch, **facts))


def _assigned(
    group: StreamsGroup, configured: Configured, members: list[Member]
) -> dict[str, Roles]:
    assert group.topology is not None
    entering = []
    for member in members:
        target = group.targets.get(member.member_id, NO_TASKS)
        entering.append(
            StreamsMember(
                member.member_id,
                member.process,
                tuple(sorted(target.active)),
                tuple(sorted(target.standby)),
            )
        )
    stateful = {part.number: bool(part.changelogs) for part in group.topology.subtopologies}
    answered = group.settings.assignor(
        configured.tasks, stateful, entering, group.settings.num_standby_replicas
    )
    return {
        member_id: Roles(frozenset(tasks.active), frozenset(tasks.standby))
        for member_id, tasks in answered.items()
    }


def _moved(before: dict[str, Roles], after: dict[str, Roles]) -> int:
    owners = {task: member for member, held in before.items() for task in sorted(held.active)}
    return sum(
        owners.get(task, member) != member
        for member, held in after.items()
        for task in sorted(held.active)
    )


# ---------------------------------------------------------------------------------------- who leaves


def _leave(
    group: StreamsGroup, request: StreamsGroupHeartbeatRequest, effects: list[Effect]
) -> StreamsGroupHeartbeatResponse:
    if not group.exists:
        raise Refusal(Error.GROUP_ID_NOT_FOUND, f"there is no group {group.name}")
    member = group.members.get(request.member_id)
    if member is None:
        raise Refusal(Error.UNKNOWN_MEMBER_ID, f"{request.member_id} is no member")
    _remove(group, member, Removal.LEFT, effects)
    return StreamsGroupHeartbeatResponse(Error.NONE, member.member_id, request.epoch)


def _remove(group: StreamsGroup, member: Member, why: str, effects: list[Effect]) -> None:
    """A member is gone: its tasks are free at once, and the next heartbeat of anybody computes a
    new target.
    """
    group.remove(member)
    group.epoch += 1
    group.revocations.pop(member.member_id, None)
    effects.append(CancelTimer(session_timer(member.member_id)))
    effects.append(CancelTimer(rebalance_timer(member.member_id)))
    _append(group, effects)
    effects.append(note("MemberRemoved", member_id=member.member_id, why=why, last_heard_us=-1))
    effects.append(note("EpochBumped", epoch=group.epoch, trigger=why, member_id=member.member_id))


# --------------------------------------------------------------------------------------- odds and ends


def _time_revocation(group: StreamsGroup, member: Member, now_us: int) -> Effect:
    """A member that owes a revocation has its rebalance timeout for it."""
    key = rebalance_timer(member.member_id)
    if member.state is UNREVOKED:
        group.revocations[member.member_id] = member.epoch
        return SetTimer(key, now_us + member.rebalance_timeout_us)
    group.revocations.pop(member.member_id, None)
    return CancelTimer(key)


def _append(group: StreamsGroup, effects: list[Effect]) -> None:
    group.appends += 1
    effects.append(Append(group.appends, "streams group"))


def _tell_member(before: Member, after: Member, is_new: bool, effects: list[Effect]) -> None:
    if is_new:
        effects.append(note("MemberAdded", member_id=after.member_id, how=Arrival.NEW))
    if (before.epoch, before.state) != (after.epoch, after.state):
        effects.append(
            note(
                "MemberStateChanged",
                member_id=after.member_id,
                before=before.state.label,
                after=after.state.label,
                epoch=after.epoch,
            )
        )
