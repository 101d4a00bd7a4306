"""The coordinator of a consumer group (KIP-848) as step functions: a heartbeat, a timer or new
metadata comes, effects go.

There is no barrier and no leader, and the coordinator never speaks first: everything happens in
the heartbeat of the member that it happens to, or of the member that happens to come next. A
step changes the group it is handed and returns at once; a heartbeat that changes nothing costs
the same in a group of thousands. The group is changed before the log has it; every answer waits
for the log.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.membership import Removal
from rebalsim.protocol.consumer import regexes
from rebalsim.protocol.consumer.admission import admit, check_form, holder_of
from rebalsim.protocol.consumer.group import ConsumerGroup
from rebalsim.protocol.consumer.member import UNREVOKED, Member
from rebalsim.protocol.consumer.progress import (
    append,
    go_away,
    progress,
    rebalance_timer,
    remove,
    session_timer,
    time_revocation,
)
from rebalsim.protocol.consumer.refusal import Refusal
from rebalsim.protocol.consumer.topics import Names, TopicsImage, names_of
from rebalsim.protocol.consumer_messages import (
    JOINS,
    LEAVES,
    LEAVES_FOR_A_WHILE,
    UNCHANGED,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from rebalsim.protocol.effects import CancelTimer, Effect, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.notes import note, tell_state

__all__ = [
    "heartbeat",
    "load",
    "metadata_changed",
    "rebalance_timer",
    "session_timer",
    "timer_fired",
    "unload",
    "written",
]


def heartbeat(
    group: ConsumerGroup, number: int, request: ConsumerGroupHeartbeatRequest, now_us: int
) -> list[Effect]:
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
            effects.append(
                note(
                    "Fenced",
                    member_id=request.member_id,
                    api=KafkaApi.CONSUMER_HEARTBEAT,
                    error=refused.error.name,
                )
            )
        # a thrown error does not wait
        effects.append(
            Reply(number, ConsumerGroupHeartbeatResponse(refused.error, text=refused.text))
        )
        return effects
    tell_state(group, state, effects)
    effects.append(Reply(number, response, True))
    return effects


def timer_fired(group: ConsumerGroup, key: str, now_us: int) -> list[Effect]:
    """A timer set by an earlier step is due. One whose member is gone, or has moved on, does
    nothing.
    """
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
            remove(
                group,
                member,
                Removal.SESSION_EXPIRED,
                effects,
                last_heard_us=now_us - group.settings.session_timeout_us,
            )
        elif what == "join":
            remove(group, member, Removal.NOT_REJOINED, effects)
        elif what == "sync":
            remove(group, member, Removal.NOT_SYNCED, effects)
        elif armed is not None and armed[0] == member.epoch:
            remove(group, member, Removal.REBALANCE_TIMEOUT, effects)
    if group.epoch > epoch:
        append(group, effects)
    tell_state(group, state, effects)
    return effects


def written(group: ConsumerGroup, number: int, error: Error | None, now_us: int) -> list[Effect]:
    """An append is committed, or failed. Nothing waits for it but the answer (a failed one would
    undo the step; that is not modelled).
    """
    return []


def load(group: ConsumerGroup, now_us: int) -> list[Effect]:
    """Another broker's coordinator has read the group from the log: all sessions and owed
    revocations begin anew (onLoaded).
    """
    effects: list[Effect] = []
    group.refresh_due_us = now_us
    group.regexes_are_due = False
    group.revocations.clear()
    for member in group.members.values():
        effects.append(
            SetTimer(session_timer(member.member_id), now_us + group.settings.session_timeout_us)
        )
        if member.state is UNREVOKED:
            time_revocation(group, member, now_us, effects)
    return effects


def unload(group: ConsumerGroup) -> list[Effect]:
    """The coordinator moves away: no timer of the group fires here any more."""
    effects: list[Effect] = [CancelTimer(regexes.TIMER)]
    for member_id in group.members:
        effects.append(CancelTimer(session_timer(member_id)))
        effects.append(CancelTimer(rebalance_timer(member_id)))
    return effects


def metadata_changed(group: ConsumerGroup, topics: TopicsImage, now_us: int) -> list[Effect]:
    """The cluster's topics are now these. Nothing happens yet: the next heartbeat of anybody
    looks at what the group subscribes to.
    """
    before = group.topics
    group.topics = topics
    group.topic_names.update(topics.name_of)
    if topics.name_of.keys() - before.name_of.keys():
        group.newest_topics_version = topics.version
    if any(
        before.by_name.get(name) != topics.by_name.get(name) for name in group.subscribed_names()
    ):
        group.refresh_due_us = now_us
    return []


def _beat(
    group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, now_us: int, effects: list[Effect]
) -> ConsumerGroupHeartbeatResponse:
    admitted = admit(group, request)
    before = admitted.member
    joins = request.epoch == JOINS
    said = names_of(tuple(request.topics)) if request.topics is not None else None
    reached = progress(
        group,
        admitted,
        _updated(before, request, said),
        request.owned,
        joins,
        now_us,
        effects,
        said,
    )
    effects.append(
        SetTimer(session_timer(reached.member_id), now_us + group.settings.session_timeout_us)
    )
    response = ConsumerGroupHeartbeatResponse(
        Error.NONE, reached.member_id, reached.epoch, group.settings.heartbeat_interval_us
    )
    if joins or request.is_full or reached.assigned != before.assigned:
        response.assignment = {
            topic: tuple(sorted(held)) for topic, held in reached.assigned.items()
        }
    return response


def _updated(member: Member, request: ConsumerGroupHeartbeatRequest, said: Names | None) -> Member:
    """The member with what the request brings (`said`: its topics); the same object if it brings
    nothing new.
    """
    changes: dict[str, Any] = {}
    if said is not None and said.names != member.topics.names:
        changes["topics"] = said
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


def _leave(
    group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, effects: list[Effect]
) -> ConsumerGroupHeartbeatResponse:
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
        go_away(group, member, effects)
    else:
        remove(group, member, Removal.LEFT, effects)
    append(group, effects)
    return ConsumerGroupHeartbeatResponse(Error.NONE, member.member_id, request.epoch)
