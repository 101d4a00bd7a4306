"""The client's rules as tables: what every answer does to a member, and what joining prepares
and changes.
"""

from __future__ import annotations

import pytest

from rebalsim.domain.ids import Partition
from rebalsim.protocol.classic_member import (
    NO_GENERATION,
    After,
    ClassicMember,
    MemberState,
    exception_name,
)
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.member_timers import MemberTimers, backoff_us
from rebalsim.protocol.messages import JoinGroupResponse

P = tuple(Partition("t", n) for n in range(6))


def joining(is_cooperative: bool = False) -> ClassicMember:
    """A member of generation 4 that has sent a JoinGroup."""
    member = ClassicMember(None, is_cooperative)
    member.generation, member.member_id, member.state = 4, "m-1", MemberState.PREPARING
    member.needs_rejoin = member.needs_prepare = False
    member.owned = P[:3]
    return member


def stable(is_cooperative: bool = False) -> ClassicMember:
    member = joining(is_cooperative)
    member.state = MemberState.STABLE
    return member


JOIN = [
    # error, what follows, the generation then, the id then, state then
    (Error.UNKNOWN_MEMBER_ID, After.RETRY, NO_GENERATION, "", MemberState.UNJOINED),
    (Error.REBALANCE_IN_PROGRESS, After.RETRY, 4, "m-1", MemberState.PREPARING),
    (Error.COORDINATOR_LOAD_IN_PROGRESS, After.LATER, 4, "m-1", MemberState.PREPARING),
    (Error.COORDINATOR_NOT_AVAILABLE, After.LATER, 4, "m-1", MemberState.PREPARING),
    (Error.NOT_COORDINATOR, After.LATER, 4, "m-1", MemberState.PREPARING),
    (Error.NETWORK_EXCEPTION, After.LATER, 4, "m-1", MemberState.PREPARING),
    (Error.FENCED_INSTANCE_ID, After.FATAL, 4, "m-1", MemberState.PREPARING),
    (Error.INCONSISTENT_GROUP_PROTOCOL, After.FATAL, 4, "m-1", MemberState.PREPARING),
    (Error.GROUP_MAX_SIZE_REACHED, After.FATAL, 4, "m-1", MemberState.PREPARING),
    (Error.INVALID_SESSION_TIMEOUT, After.FATAL, 4, "m-1", MemberState.PREPARING),
]


@pytest.mark.parametrize(("error", "after", "generation", "member_id", "state"), JOIN)
def test_a_refused_join(
    error: Error, after: After, generation: int, member_id: str, state: MemberState
) -> None:
    member = joining()
    assert member.on_join(JoinGroupResponse(error), 4, "m-1") is after
    assert (member.generation, member.member_id, member.state) == (generation, member_id, state)


def test_a_stranger_is_given_an_id_and_joins_again_at_once() -> None:
    member = ClassicMember(None, False)
    member.state = MemberState.PREPARING
    assert (
        member.on_join(JoinGroupResponse(Error.MEMBER_ID_REQUIRED, "m-9"), NO_GENERATION, "")
        is After.RETRY
    )
    assert (member.member_id, member.generation, member.state) == (
        "m-9",
        NO_GENERATION,
        MemberState.PREPARING,
    )
    member.on_failed_join(Error.MEMBER_ID_REQUIRED)
    assert member.rejoin_reason == "need to re-join with the given member-id: m-9"


def test_a_join_makes_a_leader_or_a_follower() -> None:
    for leader, after in (("m-1", After.LEAD), ("m-2", After.SYNC)):
        member = joining()
        assert (
            member.on_join(
                JoinGroupResponse(Error.NONE, "m-1", 5, "consumer", "range", leader), 4, "m-1"
            )
            is after
        )
        assert (member.generation, member.protocol, member.state) == (
            5,
            "range",
            MemberState.COMPLETING,
        )


def test_an_answer_to_a_member_that_left_meanwhile_is_ignored() -> None:
    member = joining()
    member.reset(keeps_id=False, reason="consumer pro-actively leaving the group")
    assert (
        member.on_join(
            JoinGroupResponse(Error.NONE, "m-1", 5, "consumer", "range", "m-1"), 4, "m-1"
        )
        is After.IGNORE
    )
    assert member.generation == NO_GENERATION


@pytest.mark.parametrize(
    ("error", "after", "generation", "member_id"),
    [
        (Error.NONE, After.GO_ON, 4, "m-1"),
        (Error.REBALANCE_IN_PROGRESS, After.RETRY, 4, "m-1"),
        (Error.ILLEGAL_GENERATION, After.RETRY, NO_GENERATION, "m-1"),
        (Error.UNKNOWN_MEMBER_ID, After.RETRY, NO_GENERATION, ""),
        (Error.NOT_COORDINATOR, After.LATER, 4, "m-1"),
        (Error.NETWORK_EXCEPTION, After.LATER, 4, "m-1"),
        (Error.FENCED_INSTANCE_ID, After.FATAL, 4, "m-1"),
        (
            Error.COORDINATOR_LOAD_IN_PROGRESS,
            After.FATAL,
            4,
            "m-1",
        ),  # the Java handler does not expect it
    ],
)
def test_an_answer_to_a_sync(error: Error, after: After, generation: int, member_id: str) -> None:
    member = joining()
    member.state = MemberState.COMPLETING
    member.needs_rejoin = True
    assert member.on_sync(error, 4, "m-1") is after
    assert (member.generation, member.member_id) == (generation, member_id)
    assert (member.state is MemberState.STABLE) == (error is Error.NONE)
    assert member.needs_rejoin != (
        error is Error.NONE
    )  # the wish is forgotten when the assignment is there


@pytest.mark.parametrize(
    ("error", "after", "generation", "member_id"),
    [
        (Error.NONE, After.GO_ON, 4, "m-1"),
        (Error.REBALANCE_IN_PROGRESS, After.RETRY, 4, "m-1"),
        (Error.ILLEGAL_GENERATION, After.LATER, NO_GENERATION, "m-1"),
        (Error.UNKNOWN_MEMBER_ID, After.LATER, NO_GENERATION, ""),
        (Error.FENCED_INSTANCE_ID, After.FATAL, NO_GENERATION, ""),
        (Error.NOT_COORDINATOR, After.LATER, 4, "m-1"),
    ],
)
def test_an_answer_to_a_heartbeat(
    error: Error, after: After, generation: int, member_id: str
) -> None:
    member = stable()
    assert member.on_heartbeat(error, 4, "m-1") is after
    assert (member.generation, member.member_id) == (generation, member_id)
    assert member.needs_rejoin == (error not in (Error.NONE, Error.NOT_COORDINATOR))


def test_a_heartbeats_news_counts_in_stable_only_and_for_its_own_generation() -> None:
    member = joining()
    assert (
        member.on_heartbeat(Error.REBALANCE_IN_PROGRESS, 4, "m-1") is After.GO_ON
        and not member.needs_rejoin
    )
    member = stable()
    assert (
        member.on_heartbeat(Error.UNKNOWN_MEMBER_ID, 3, "m-1") is After.IGNORE
        and member.generation == 4
    )


def test_what_a_join_prepares() -> None:
    assert stable().prepare(("t",)) == ("revoked", P[:3])
    assert stable(is_cooperative=True).prepare(("t",)) == ("", ())
    assert stable(is_cooperative=True).prepare(("u",)) == (
        "revoked",
        P[:3],
    )  # the topic is not subscribed any more
    lost = stable()
    lost.reset(keeps_id=True, reason="")
    assert lost.prepare(("t",)) == ("lost", P[:3])
    empty = stable()
    empty.owned = ()
    assert empty.prepare(("t",)) == ("revoked", ())  # called with an empty list, too
    empty.reset(keeps_id=True, reason="")
    assert empty.prepare(("t",)) == ("", ())


def test_what_an_assignment_changes() -> None:
    assert stable().changes(P[2:5]) == (P[3:5], ())  # an eager member has revoked all before
    assert stable(is_cooperative=True).changes(P[2:5]) == (P[3:5], P[:2])


def test_dropping() -> None:
    member = stable()
    member.drop(P[1:2])
    assert member.owned == (P[0], P[2])
    member.drop(member.owned)
    assert member.owned == ()


def test_exceptions_have_kafkas_names() -> None:
    assert exception_name(Error.FENCED_INSTANCE_ID) == "FencedInstanceIdException"
    assert exception_name(Error.NETWORK_EXCEPTION) == "DisconnectException"


def test_timers() -> None:
    timers = MemberTimers(3_000, 45_000, 300_000, 100)
    timers.enable(1_000)
    assert (timers.due_us, timers.session_ends_us(), timers.poll_ends_us()) == (
        4_000,
        46_000,
        301_000,
    )
    assert (
        timers.look_after(4_000) == 4_000
        and timers.look_after(4_001) == 4_100
        and timers.look_after(500) == 1_000
    )
    timers.sent(4_002)
    timers.answered(4_004)
    assert (timers.due_us, timers.session_ends_us(), timers.looked_us) == (7_002, 49_004, 4_002)
    timers.failed(7_010, 80)
    assert (timers.due_us, timers.attempts) == (7_090, 1)


def test_backoffs_double_up_to_the_most() -> None:
    assert [backoff_us(n, 100, 1_000, 1.0) for n in range(6)] == [100, 200, 400, 800, 1_000, 1_000]
    assert backoff_us(0, 100, 1_000, 0.8) == 80
