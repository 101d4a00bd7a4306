"""A group id whose members may speak either protocol: the coordinator turns the group from one kind
into the other and back.

An empty group becomes what its first joiner speaks. A classic group with members becomes a
consumer group when one of the new kind joins; a consumer group of which only classic members are
left becomes a classic one, if the migration policy lets them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rebalsim.domain.java_hash import TimelineHashMap
from rebalsim.domain.membership import Removal
from rebalsim.domain.server_target import as_recorded
from rebalsim.protocol import classic_group, consumer_group
from rebalsim.protocol.classic.barrier import Trigger, prepare_rebalance
from rebalsim.protocol.classic.group import ClassicGroup
from rebalsim.protocol.classic.group import Member as ClassicMember
from rebalsim.protocol.classic.rules import CoordinatorRules
from rebalsim.protocol.consumer import classic_members
from rebalsim.protocol.consumer.admission import check_form
from rebalsim.protocol.consumer.classic_members import Dialect, MemberIdRequired
from rebalsim.protocol.consumer.commits import check_commit
from rebalsim.protocol.consumer.group import ConsumerGroup, ConsumerGroupSettings
from rebalsim.protocol.consumer.member import STABLE, Classic, Member
from rebalsim.protocol.consumer.progress import rebalance_timer, session_timer
from rebalsim.protocol.consumer.refusal import Refusal
from rebalsim.protocol.consumer.regexes import TIMER as REGEX_TIMER
from rebalsim.protocol.consumer.topics import NO_TOPICS, TopicsImage, names_of
from rebalsim.protocol.consumer_messages import (
    JOINS,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from rebalsim.protocol.effects import CancelTimer, Effect, Note, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    ClassicRequest,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from rebalsim.protocol.notes import state_changed, tell_state
from rebalsim.protocol.states import ClassicState

POLICIES = ("bidirectional", "upgrade", "downgrade", "disabled")  # group.consumer.migration.policy


@dataclass(slots=True)
class EitherGroup:
    """One group id at its coordinator; `group` is what it is at present. Kept apart: what both
    kinds need.
    """

    name: str
    rules: CoordinatorRules
    settings: ConsumerGroupSettings
    dialect: Dialect
    new_member_id: Callable[[str], str]
    policy: str = "bidirectional"
    topics: TopicsImage = NO_TOPICS
    offsets: dict[Any, Any] = field(default_factory=dict)  # while it is a consumer group
    # of classic members in it; their timers outlive it, as in Kafka
    awaited_joins: dict[str, None] = field(default_factory=dict)
    group: ClassicGroup | ConsumerGroup = field(init=False)

    def __post_init__(self) -> None:
        self.group = ClassicGroup(self.name, self.rules, self.new_member_id)


def step(
    either: EitherGroup,
    number: int,
    request: ClassicRequest | ConsumerGroupHeartbeatRequest,
    now_us: int,
) -> list[Effect]:
    """A request of either protocol arrived."""
    group = either.group
    if isinstance(request, ConsumerGroupHeartbeatRequest):
        if isinstance(group, ConsumerGroup):
            before = dict(group.members)
            return _downgraded(
                either,
                group,
                before,
                consumer_group.heartbeat(group, number, request, now_us),
                now_us,
            )
        return _heard_by_classic(either, group, number, request, now_us)
    if (
        isinstance(group, ConsumerGroup)
        and isinstance(request, JoinGroupRequest)
        and not group.members
    ):
        group = either.group = ClassicGroup(
            either.name, either.rules, either.new_member_id, appends=group.appends
        )
        group.begin_offsets(either.offsets)
    if isinstance(group, ClassicGroup):
        return classic_group.step(group, number, request, now_us)
    return _heard_by_consumer(either, group, number, request, now_us)


def fired(either: EitherGroup, key: str, now_us: int) -> list[Effect]:
    """A timer is due. One of the group's former kind does nothing."""
    group = either.group
    if key.startswith("join:"):
        either.awaited_joins.pop(key.removeprefix("join:"), None)
    if isinstance(group, ClassicGroup):
        return (
            []
            if key == REGEX_TIMER or ":" in key.split("-", 1)[0]
            else classic_group.fired(group, key, now_us)
        )
    if key.startswith(("join-", "sync-", "heartbeat-")):
        return []
    before = dict(group.members)
    return _downgraded(
        either, group, before, consumer_group.timer_fired(group, key, now_us), now_us
    )


def written(either: EitherGroup, number: int, error: Error | None, now_us: int) -> list[Effect]:
    """An append is committed, or failed."""
    group = either.group
    return (
        classic_group.written(group, number, error, now_us)
        if isinstance(group, ClassicGroup)
        else []
    )


def metadata_changed(either: EitherGroup, topics: TopicsImage, now_us: int) -> list[Effect]:
    """The cluster's topics are now these."""
    either.topics = topics
    return (
        consumer_group.metadata_changed(either.group, topics, now_us)
        if isinstance(either.group, ConsumerGroup)
        else []
    )


# ---------------------------------------------------------------------------------- to the new kind


def _heard_by_classic(
    either: EitherGroup,
    group: ClassicGroup,
    number: int,
    request: ConsumerGroupHeartbeatRequest,
    now_us: int,
) -> list[Effect]:
    effects: list[Effect] = []
    try:
        check_form(either.settings, request)
        if request.epoch != JOINS:
            raise Refusal(Error.GROUP_ID_NOT_FOUND, f"{either.name} is no consumer group")
        if not group.exists or group.state is ClassicState.EMPTY:
            effects += [CancelTimer(timer) for timer in (group.join_timer, *group.pending.values())]
            made = ConsumerGroup(
                either.name,
                either.settings,
                either.topics,
                appends=group.appends,
                awaited_joins=either.awaited_joins,
            )
        else:
            made = _upgrade(either, group, now_us, effects)
    except Refusal as refused:
        return [
            *effects,
            Reply(number, ConsumerGroupHeartbeatResponse(refused.error, text=refused.text)),
        ]
    either.offsets.update(group.offsets)
    converted = list(made.members)
    answer = consumer_group.heartbeat(made, number, request, now_us)
    refused_after_all = (
        not isinstance(answer[-1], Reply) or answer[-1].response.error is not Error.NONE
    )
    if not refused_after_all:
        _as_logged(made, converted)
        either.group = made
        return effects + answer
    # The group stays what it was, though whoever waited in it was sent away.
    return [effect for effect in effects if isinstance(effect, Reply)] + answer


def _as_logged(group: ConsumerGroup, converted: list[str]) -> None:
    """The converted group is written to the log and read back: its map is filled in the order in
    which the first one yields its members.

    Two records make a member, and each is a put that may double the table; in the first map each
    was put once.
    """
    members = group.members
    ids = [*converted, *converted, *members, *members]
    group.members = _filled(
        [(member_id, members[member_id]) for member_id in ids if member_id in members]
    )


def _filled(puts: list[tuple[str, Member]]) -> TimelineHashMap[str, Member]:
    made: TimelineHashMap[str, Member] = TimelineHashMap()
    for member_id, member in puts:
        made.put(member_id, member)
    return made


def _upgrade(
    either: EitherGroup, group: ClassicGroup, now_us: int, effects: list[Effect]
) -> ConsumerGroup:
    """Online: every classic member becomes a stable member with its last assignment, at an epoch
    that is the generation.
    """
    if either.policy not in ("bidirectional", "upgrade"):
        raise _no_upgrade(group, "online upgrade is disabled.")
    if group.protocol_type != "consumer":
        raise _no_upgrade(group, "the group does not use the consumer embedded protocol.")
    if len(group.members) > either.settings.max_size:
        raise _no_upgrade(group, "the group size exceeds the consumer group maximum size.")
    for waiting in group.ordered():
        group.refuse_waiting(waiting, Error.REBALANCE_IN_PROGRESS, effects)
    made = ConsumerGroup(
        either.name,
        either.settings,
        either.topics,
        exists=True,
        epoch=group.generation,
        assignment_epoch=group.generation,
        appends=group.appends,
        awaited_joins=either.awaited_joins,
    )
    members = list(group.ordered())
    for old in members:
        _convert(either, group, old, made)
    made.members = _filled([(old.member_id, made.members[old.member_id]) for old in members])
    made.metadata = made.metadata_of(made.subscribed_names())
    timers = [group.join_timer, group.sync_timer, *group.pending.values()]
    effects += [CancelTimer(timer) for timer in (*timers, *(old.timer for old in members))]
    effects += [
        SetTimer(session_timer(m.member_id), now_us + m.classic.session_timeout_us)
        for m in made.members.values()
        if m.classic
    ]
    effects.append(_regrouped(group, made, group.generation, "classic group to a consumer"))
    return made


def _no_upgrade(group: ClassicGroup, why: str) -> Refusal:
    what = f"Cannot upgrade classic group {group.group_id} to consumer group"
    return Refusal(Error.GROUP_ID_NOT_FOUND, f"{what} because {why}")


def _regrouped(
    before: ClassicGroup | ConsumerGroup,
    after: ClassicGroup | ConsumerGroup,
    generation: int,
    what: str,
) -> Note:
    """The group is of the other kind now."""
    why = {"trigger": "regrouped", "member_id": "", "reason": f"Converted the {what} group."}
    return state_changed(before.state, after.state, generation, **why)


def _convert(
    either: EitherGroup, group: ClassicGroup, old: ClassicMember, made: ConsumerGroup
) -> None:
    """The classic member, as one of the consumer group that is made of its own."""
    if group.protocol not in [name for name, _ in old.protocols]:
        # One that joined at the barrier with other protocols than the last generation's: Kafka
        # breaks, and says so.
        raise Refusal(
            Error.UNKNOWN_SERVER_ERROR,
            f"Member {old.member_id} does not support protocol {group.protocol}",
        )
    said = either.dialect.subscription(old.metadata(group.protocol))
    try:
        assigned = classic_members.owned_by_id(made, either.dialect.assigned(old.assignment))
    except ValueError as e:
        raise _no_upgrade(group, f"an unsupported custom assignor is in use: {e}") from None
    made.targets[old.member_id] = as_recorded(assigned)
    member = Member(
        old.member_id,
        group.generation,
        group.generation,
        STABLE,
        old.instance_id,
        said.rack,
        old.client_id,
        old.rebalance_timeout_us,
        names_of(tuple(sorted(said.topics))),
        assigned={t: dict.fromkeys(n, group.generation) for t, n in assigned.items()},
        classic=Classic(old.session_timeout_us, old.protocols),
    )
    made.install(None, member)


# --------------------------------------------------------------------------------- classic requests


def _heard_by_consumer(
    either: EitherGroup, group: ConsumerGroup, number: int, request: ClassicRequest, now_us: int
) -> list[Effect]:
    effects: list[Effect] = []
    before, state = dict(group.members), group.state
    answer: Any
    try:
        if isinstance(request, JoinGroupRequest):
            answer = _join(either, group, request, now_us, effects)
        elif isinstance(request, SyncGroupRequest):
            answer = classic_members.sync(group, request, either.dialect, now_us, effects)
        elif isinstance(request, HeartbeatRequest):
            answer = classic_members.beat(group, request, now_us, effects)
        elif isinstance(request, LeaveGroupRequest):
            answer = classic_members.leave(group, request, effects)
        elif isinstance(request, OffsetCommitRequest):
            answer = _commit(either, group, request)
        elif isinstance(request, OffsetFetchRequest):
            answer = OffsetFetchResponse(
                Error.NONE,
                {p: either.offsets[p] for p in request.partitions if p in either.offsets},
            )
        else:
            raise Refusal(
                Error.INVALID_REQUEST, f"a group does not answer {type(request).__name__}"
            )
    except Refusal as refused:
        return [*effects, Reply(number, _refusal(request, refused))]
    if either.group is group:
        tell_state(group, state, effects)
        effects = _downgraded(either, group, before, effects, now_us)
    effects.append(Reply(number, answer, True))
    return effects


def _refusal(request: ClassicRequest, refused: Refusal) -> Any:
    if isinstance(request, JoinGroupRequest):
        return JoinGroupResponse(
            refused.error,
            refused.member_id if isinstance(refused, MemberIdRequired) else request.member_id,
        )
    if isinstance(request, SyncGroupRequest):
        return SyncGroupResponse(refused.error)
    if isinstance(request, OffsetCommitRequest):
        return OffsetCommitResponse(refused.error)
    return HeartbeatResponse(refused.error)


def _join(
    either: EitherGroup,
    group: ConsumerGroup,
    request: JoinGroupRequest,
    now_us: int,
    effects: list[Effect],
) -> JoinGroupResponse:
    session_us, rules = request.session_timeout_us, either.rules
    if not rules.min_session_timeout_us <= session_us <= rules.max_session_timeout_us:
        raise Refusal(Error.INVALID_SESSION_TIMEOUT, f"the session timeout is {session_us} µs")
    if either.policy == "disabled":
        raise Refusal(
            Error.INCONSISTENT_GROUP_PROTOCOL,
            f"Cannot join the consumer group {either.name} with the classic protocol because the "
            "group migration is disabled.",
        )
    admitted = classic_members.admit_classic(group, request, either.new_member_id)
    holder = admitted.replaces
    replaced = "" if holder is None else holder.member_id
    others = [m for m in group.members.values() if m.member_id != replaced]
    if (
        holder is None
        or holder.classic is not None
        or not _may_become_classic(either, others, len(group.members))
    ):
        return classic_members.join(group, request, admitted, either.dialect, now_us, effects)
    # The last one of the new kind is replaced by its own classic self: nobody else is left, and the
    # group is a classic one again.
    member = classic_members.joined(
        admitted.member, request, either.dialect.subscription(request.protocols[0][1])
    )
    metadata = group.metadata_of(group.subscribed_names(admitted.member, member))
    is_stale = (
        group.assignment_epoch < group.epoch
        or member.topics is not admitted.member.topics
        or bool(admitted.member.regex)
        or (now_us >= group.refresh_due_us and metadata != group.metadata)
    )
    if not is_stale:
        member.epoch = group.assignment_epoch
    group.targets[member.member_id] = group.targets.get(holder.member_id, {})
    why, left = "stale assignment" if is_stale else "", [*others, member]
    _become_classic(either, group, left, group.epoch, why, now_us, effects)
    return classic_members.join_answer(member, request)


def _commit(
    either: EitherGroup, group: ConsumerGroup, request: OffsetCommitRequest
) -> OffsetCommitResponse:
    by_id = [
        (topic.topic_id, p.number)
        for p in request.offsets
        for topic in [group.topics.by_name.get(p.topic)]
        if topic is not None
    ]
    error = check_commit(
        group,
        request.member_id,
        request.generation,
        by_id,
        instance_id=request.instance_id,
        is_transactional=request.is_transactional,
        version=request.version,
    )
    if error is Error.NONE:
        either.offsets.update(request.offsets)
    return OffsetCommitResponse(error)


# ----------------------------------------------------------------------------- back to the old kind


def _may_become_classic(either: EitherGroup, remaining: list[Member], size: int) -> bool:
    if not remaining and size != 1:
        return False
    return (
        either.policy in ("bidirectional", "downgrade")
        and size <= either.rules.max_size
        and all(m.classic for m in remaining)
    )


def _downgraded(
    either: EitherGroup,
    group: ConsumerGroup,
    before: dict[str, Member],
    effects: list[Effect],
    now_us: int,
) -> list[Effect]:
    """If this step's removals left classic members only, the group becomes a classic one instead
    of losing members.
    """
    notes = [e for e in effects if isinstance(e, Note)]
    removed = any(e.kind == "MemberRemoved" and e.facts["why"] != Removal.REPLACED for e in notes)
    remaining = list(group.members.values())
    if (
        not removed
        or all(member_id in group.members for member_id in before)
        or not remaining
        or not _may_become_classic(either, remaining, len(remaining))
    ):
        return effects
    answers = [e for e in effects if isinstance(e, Reply)]
    kept: list[Effect] = [
        e
        for e in effects
        if not isinstance(e, Reply)
        and not (isinstance(e, Note) and e.kind in ("EpochBumped", "GroupStateChanged"))
    ]
    # there was no such bump
    _become_classic(either, group, remaining, group.epoch - 1, "member leaving", now_us, kept)
    return kept + answers


def _become_classic(
    either: EitherGroup,
    group: ConsumerGroup,
    members: list[Member],
    generation: int,
    why: str,
    now_us: int,
    effects: list[Effect],
) -> None:
    made = ClassicGroup(
        either.name,
        either.rules,
        either.new_member_id,
        exists=True,
        state=ClassicState.STABLE,
        generation=generation,
        protocol_type="consumer",
        appends=group.appends,
    )
    made.begin_offsets(either.offsets)
    # Join and sync timers of its members are left armed: if the group turns back in time, one of
    # them may still remove its member.
    for member_id in group.members:
        effects += [CancelTimer(session_timer(member_id)), CancelTimer(rebalance_timer(member_id))]
    for member in members:
        assert member.classic is not None
        made.add(
            ClassicMember(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.classic.session_timeout_us,
                member.rebalance_timeout_us,
                "consumer",
                member.classic.protocols,
                made.session_prefix + member.member_id,
            )
        )
    made.protocol = made.selected_protocol()
    for old in made.ordered():
        # in the order of its map, which an upgrade later finds again
        target = group.targets.get(old.member_id, {})
        old.assignment = either.dialect.assignment(group.still_there(target))
        made.arm(old, old.session_timeout_us, now_us, effects)
    either.group = made
    effects.append(_regrouped(group, made, generation, "consumer group to a classic"))
    if why:
        reason = f"Downgrade group {either.name} from consumer to classic for {why}."
        prepare_rebalance(made, Trigger("regrouped", "", reason), now_us, effects)
