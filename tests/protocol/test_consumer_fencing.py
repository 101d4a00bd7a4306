"""Who is let in, who is turned away, and how a member goes: by its leave, by its session, by its
rebalance timeout.
"""

from __future__ import annotations

import pytest
from consumer_talk import MS, Error, Talk, written

from rebalsim.protocol.consumer_group import load, timer_fired, unload
from rebalsim.protocol.consumer_messages import ConsumerGroupHeartbeatRequest
from rebalsim.protocol.effects import Note, Reply

NONE, FENCED, UNKNOWN = Error.NONE, Error.FENCED_MEMBER_EPOCH, Error.UNKNOWN_MEMBER_ID


def in_state(state: str) -> Talk:
    """m1 in the state named; m2 is there too. m1's epoch is 5 and the one before it 4 (2 and 2
    where it owes a revocation).
    """
    talk = Talk("a4")
    talk.want(m1="a0 a1 a2 a3")
    instance = "i1" if state == "away" else None
    if state == "unknown":
        talk.join("m2")
        return talk
    talk.join("m1", instance=instance)
    if state == "unrevoked":
        talk.want(m1="a0 a1", m2="a2 a3")
        talk.join("m2")
        talk.beat("m1", instance=instance)
        return talk
    talk.join("m2")
    for epoch in (4, 5):
        talk.topics(f"a{epoch + 1}")
        if epoch == 5 and state == "unreleased":
            talk.want(m1="a0 a1 a2 a3 a5", m2="a4")
            talk.join("m2")
            talk.want(m1="a0 a1 a2 a3 a4")
            talk.topics("a8")
        talk.beat("m1", instance=instance)
    if state == "behind":
        talk.topics("a9")
        talk.beat("m2")
    if state == "away":
        talk.leave("m1", instance, -2)
    return talk


WHERE = {
    "stable": "STABLE 5: a0 a1 a2 a3",
    "behind": "STABLE 5: a0 a1 a2 a3",
    "unrevoked": "UNREVOKED_PARTITIONS 2: a0 a1 -a2 -a3",
    "unreleased": "UNRELEASED_PARTITIONS 6: a0 a1 a2 a3",
    "away": "STABLE -2: a0 a1 a2 a3",
}


@pytest.mark.parametrize("state", WHERE)
def test_the_states_of_this_table_are_what_they_are_called(state: str) -> None:
    assert in_state(state).where("m1") == WHERE[state]


# message → the answer in each state: unknown, stable, behind the target, owing a revocation,
# waiting for a release, away
TABLE: dict[str, tuple[Error, ...]] = {
    "join": (NONE, NONE, NONE, NONE, NONE, NONE),
    "own epoch": (UNKNOWN, NONE, NONE, NONE, NONE, FENCED),
    "next epoch": (UNKNOWN, FENCED, FENCED, FENCED, FENCED, FENCED),
    "previous, without a list": (UNKNOWN, FENCED, FENCED, NONE, FENCED, FENCED),
    "previous, with its own": (UNKNOWN, NONE, NONE, NONE, NONE, FENCED),
    "previous, with a stranger's": (UNKNOWN, FENCED, FENCED, NONE, FENCED, FENCED),
    "older than the previous": (UNKNOWN, FENCED, FENCED, FENCED, FENCED, FENCED),
    "leave": (UNKNOWN, NONE, NONE, NONE, NONE, NONE),
    "leave of a stranger": (UNKNOWN,) * 6,
    "an instance id it has not": (UNKNOWN,) * 6,
}
STATES = ("unknown", *WHERE)


def message(name: str, talk: Talk) -> ConsumerGroupHeartbeatRequest:
    m1 = talk.group.members.get("m1")
    epoch, previous = (m1.epoch, m1.previous_epoch) if m1 is not None else (3, 2)
    a = "aAAAAAAAAAAAAAAAAAAAAA"
    if epoch == -2:
        epoch, previous = 5, 4
    return {
        "join": ConsumerGroupHeartbeatRequest(
            "m1", 0, rebalance_timeout_us=60_000 * MS, topics=["a"], owned={}
        ),
        "own epoch": ConsumerGroupHeartbeatRequest("m1", epoch),
        "next epoch": ConsumerGroupHeartbeatRequest("m1", epoch + 1),
        "previous, without a list": ConsumerGroupHeartbeatRequest("m1", previous),
        "previous, with its own": ConsumerGroupHeartbeatRequest("m1", previous, owned={a: [0, 1]}),
        "previous, with a stranger's": ConsumerGroupHeartbeatRequest(
            "m1", previous, owned={a: [0, 77]}
        ),
        "older than the previous": ConsumerGroupHeartbeatRequest("m1", 1, owned={a: [0]}),
        "leave": ConsumerGroupHeartbeatRequest("m1", -1),
        "leave of a stranger": ConsumerGroupHeartbeatRequest("m9", -1),
        "an instance id it has not": ConsumerGroupHeartbeatRequest("m1", epoch, "i9"),
    }[name]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", TABLE)
def test_every_message_in_every_state_is_answered_as_the_table_says(name: str, state: str) -> None:
    talk = in_state(state)
    before = (talk.epochs, {m: talk.where(m) for m in talk.group.members}, dict(talk.timers))
    answer = talk.send(message(name, talk))
    assert answer.error is TABLE[name][STATES.index(state)]
    if answer.error is not NONE:
        assert answer.text and before == (
            talk.epochs,
            {m: talk.where(m) for m in talk.group.members},
            dict(talk.timers),
        )
        assert [type(effect) for effect in talk.effects if not isinstance(effect, Note)] == [
            Reply
        ], "a refused request leaves no trace"
        assert talk.told("Fenced") == (
            [{"member_id": "m1", "api": "ConsumerGroupHeartbeat", "error": "FENCED_MEMBER_EPOCH"}]
            if answer.error is FENCED
            else []
        )


@pytest.mark.parametrize(
    "request_, error",
    [
        (ConsumerGroupHeartbeatRequest("m1", 0, topics=["a"], owned={}), Error.INVALID_REQUEST),
        (
            ConsumerGroupHeartbeatRequest("m1", 0, rebalance_timeout_us=1, owned={}),
            Error.INVALID_REQUEST,
        ),
        (
            ConsumerGroupHeartbeatRequest("m1", 0, rebalance_timeout_us=1, topics=["a"]),
            Error.INVALID_REQUEST,
        ),
        (
            ConsumerGroupHeartbeatRequest(
                "m1", 0, rebalance_timeout_us=1, topics=["a"], owned={"x": [1]}
            ),
            Error.INVALID_REQUEST,
        ),
        (
            ConsumerGroupHeartbeatRequest("", 0, rebalance_timeout_us=1, topics=["a"], owned={}),
            Error.INVALID_REQUEST,
        ),
        (
            ConsumerGroupHeartbeatRequest(
                "m1", 0, "", rebalance_timeout_us=1, topics=["a"], owned={}
            ),
            Error.INVALID_REQUEST,
        ),
        (
            ConsumerGroupHeartbeatRequest(
                "m1", 0, rack_id="", rebalance_timeout_us=1, topics=["a"], owned={}
            ),
            Error.INVALID_REQUEST,
        ),
        (ConsumerGroupHeartbeatRequest("m1", -2), Error.INVALID_REQUEST),
        (ConsumerGroupHeartbeatRequest("m1", -3), Error.INVALID_REQUEST),
        (ConsumerGroupHeartbeatRequest("m1", 1, assignor="sticky"), Error.UNSUPPORTED_ASSIGNOR),
        (ConsumerGroupHeartbeatRequest("m1", -1, assignor="sticky"), Error.UNSUPPORTED_ASSIGNOR),
    ],
    ids=[
        "join without timeout",
        "without subscription",
        "without owned",
        "owning",
        "no member id",
        "empty instance id",
        "empty rack",
        "-2 without instance",
        "-3",
        "unknown assignor",
        "unknown assignor in a leave",
    ],
)
def test_a_malformed_request_is_refused_before_anything_is_looked_up(
    request_: ConsumerGroupHeartbeatRequest, error: Error
) -> None:
    assert Talk().send(request_).error is error


def test_a_joiner_may_bring_a_regex_instead_of_names() -> None:
    assert Talk().join("m1", topics=None, regex="a.*").error is NONE


# ------------------------------------------------------------------------------------------- epochs


def test_a_lost_answer_is_given_again_to_the_previous_epoch_with_a_subset_of_its_partitions() -> (
    None
):
    talk = in_state("stable")
    answer = talk.beat("m1", "a0", epoch=4)
    assert (answer.error, answer.epoch) == (NONE, 5)


def test_a_member_joins_again_with_epoch_0_and_keeps_what_it_has() -> None:
    talk = in_state("stable")
    answer = talk.join("m1")
    assert (answer.epoch, written(answer.assignment), talk.epochs) == (5, "a0 a1 a2 a3", (5, 5))


def test_joining_again_counts_as_having_given_up_what_was_to_be_given_up() -> None:
    talk = in_state("unrevoked")
    answer = talk.join("m1")
    assert (answer.epoch, written(answer.assignment)) == (3, "a0 a1")
    assert written(talk.beat("m2").assignment) == "a2 a3"


def test_in_4_0_and_4_1_a_known_member_cannot_join_again_unless_its_previous_epoch_is_0() -> None:
    talk = Talk("a4", known_members_may_join_again=False)
    talk.want(m1="a0 a1 a2 a3")
    talk.join("m1")
    assert talk.join("m1").error is NONE
    talk.topics("a5")
    talk.beat("m1")
    assert talk.join("m1").error is FENCED


# ------------------------------------------------------------------------------------- a full group


def test_a_full_group_turns_joiners_away_and_also_unknown_members_with_an_epoch() -> None:
    talk = Talk(max_size=1)
    talk.join("m1")
    assert talk.join("m2").error is Error.GROUP_MAX_SIZE_REACHED
    assert talk.beat("m2", epoch=7).error is Error.GROUP_MAX_SIZE_REACHED
    assert talk.beat("m1").error is NONE
    assert talk.leave("m2").error is UNKNOWN


def test_a_full_group_turns_away_even_the_one_that_would_take_a_static_members_place() -> None:
    talk = Talk(max_size=1)
    talk.join("m1", instance="i1")
    talk.leave("m1", "i1", -2)
    assert talk.join("m2", instance="i1").error is Error.GROUP_MAX_SIZE_REACHED


# -------------------------------------------------------------------------------------------- going


def test_a_leave_frees_everything_at_once_and_computes_nothing_until_somebody_beats() -> None:
    talk = in_state("stable")
    talk.want(m2="a0 a1 a2 a3")
    answer = talk.leave("m1")
    assert (answer.epoch, answer.member_id, answer.heartbeat_interval_us) == (-1, "m1", 0)
    assert talk.epochs == (6, 5) and talk.state == "Assigning" and "session:m1" not in talk.timers
    assert written(talk.beat("m2").assignment) == "a0 a1 a2 a3"
    assert talk.told("MemberRemoved")[-1] == {"member_id": "m1", "why": "left", "last_heard_us": -1}


def test_the_session_ends_one_timeout_after_the_last_accepted_heartbeat() -> None:
    talk = in_state("stable")
    talk.at(20_000)
    talk.beat("m1")
    talk.beat("m2")
    talk.at(30_000)
    talk.beat("m1", epoch=9)  # refused: renews nothing
    talk.beat("m2")
    talk.at(64_999)
    assert "m1" in talk.group.members
    talk.at(65_000)
    assert "m1" not in talk.group.members and talk.epochs == (6, 5)
    assert talk.told("MemberRemoved")[-1] == {
        "member_id": "m1",
        "why": "session-expired",
        "last_heard_us": 20_000 * MS,
    }
    assert talk.told("EpochBumped")[-1]["trigger"] == "session-expired"


def test_when_the_last_member_goes_the_group_is_empty_and_stays() -> None:
    talk = Talk()
    talk.join("m1")
    talk.leave("m1")
    assert talk.state == "Empty" and talk.group.exists and talk.epochs == (3, 2)
    assert not talk.timers


def test_a_member_that_does_not_give_up_within_its_rebalance_timeout_is_removed() -> None:
    talk = in_state("unrevoked")
    for ms in (30_000, 59_999):
        talk.at(ms)
        talk.beat("m1")
        talk.beat("m2")
    talk.at(60_000)
    assert "m1" not in talk.group.members and "session:m1" not in talk.timers
    assert talk.told("MemberRemoved")[-1]["why"] == "rebalance-timeout"
    talk.want(m2="a0 a1 a2 a3")
    assert written(talk.beat("m2").assignment) == "a0 a1 a2 a3"


def test_a_rebalance_timer_of_an_epoch_that_is_over_does_nothing() -> None:
    talk = Talk("a4", session_timeout_us=600_000 * MS)
    talk.want(m1="a0 a1")
    talk.join("m1", instance="i1")
    talk.want(m1="a0")
    talk.topics("a5")
    talk.beat("m1", instance="i1")
    talk.leave("m1", "i1", -2)
    assert "rebalance:m1" in talk.timers
    talk.at(100_000)
    assert talk.where("m1") == "STABLE -2: a0".replace("STABLE", "UNREVOKED_PARTITIONS")


def test_timers_of_a_member_that_is_gone_do_nothing() -> None:
    talk = in_state("stable")
    for key in ("session:m9", "rebalance:m9"):
        assert timer_fired(talk.group, key, talk.now_us) == []
    assert talk.epochs == (5, 5)


def test_a_new_rebalance_timeout_holds_from_the_next_revocation_on() -> None:
    talk = Talk("a4")
    talk.want(m1="a0 a1")
    talk.join("m1")
    talk.beat("m1", rebalance_timeout_us=7_000 * MS)
    talk.topics("a5")
    talk.want(m1="a0")
    talk.beat("m1")
    assert talk.timers["rebalance:m1"] == 7_000 * MS


# ------------------------------------------------------------------------------ another coordinator


def test_a_new_coordinator_gives_everybody_a_whole_session_and_a_whole_rebalance_timeout() -> None:
    talk = in_state("unrevoked")
    talk.at(30_000)
    talk.beat("m1")
    talk._do(unload(talk.group))
    assert not talk.timers
    talk.now_us = 40_000 * MS
    talk._do(load(talk.group, talk.now_us))
    assert talk.timers == {
        "session:m1": 85_000 * MS,
        "session:m2": 85_000 * MS,
        "rebalance:m1": 100_000 * MS,
    }
    assert talk.beat("m1", "a0 a1").epoch == 3 and "rebalance:m1" not in talk.timers
    assert written(talk.beat("m2").assignment) == "a2 a3"
