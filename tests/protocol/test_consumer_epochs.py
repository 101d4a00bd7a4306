"""What bumps the group epoch, when a target is computed, and how the assignment interval
(KIP-1263) holds it back.
"""

from __future__ import annotations

import pytest
from consumer_talk import MS, Error, Talk

from rebalsim.protocol.consumer.topics import Topic, TopicsImage
from rebalsim.protocol.consumer_group import metadata_changed
from rebalsim.protocol.effects import Reply, SetTimer


def pair(**settings: object) -> Talk:
    """m1 and m2 share topic a, stable at epoch 3."""
    talk = Talk("a4", **settings)
    talk.want(m1="a0 a1 a2 a3")
    talk.join("m1")
    talk.want(m1="a0 a1", m2="a2 a3")
    talk.at(talk.now + 5_000)
    talk.join("m2")
    talk.beat("m1")
    talk.beat("m1", "a0 a1")
    talk.beat("m2")
    assert (talk.where("m1"), talk.where("m2"), talk.state) == (
        "STABLE 3: a0 a1",
        "STABLE 3: a2 a3",
        "Stable",
    )
    return talk


def test_the_first_computed_assignment_is_epoch_2_because_a_group_starts_at_1() -> None:
    talk = Talk()
    talk.want(m1="a0 a1 a2 a3")
    answer = talk.join("m1")
    assert (answer.error, answer.epoch, talk.epochs) == (Error.NONE, 2, (2, 2))


def test_before_4_3_the_first_epoch_is_1() -> None:
    talk = Talk(first_epoch=0)
    talk.want(m1="a0")
    assert talk.join("m1").epoch == 1


def test_a_first_member_without_topics_bumps_nothing_and_has_epoch_1() -> None:
    talk = Talk()
    assert talk.join("m1", topics="").epoch == 1
    assert talk.epochs == (1, 1) and talk.state == "Stable" and not talk.asked


def test_a_failed_join_makes_no_group() -> None:
    talk = Talk()
    assert talk.join("m1", assignor="sticky").error is Error.UNSUPPORTED_ASSIGNOR
    assert not talk.group.exists
    assert talk.beat("m1", epoch=1).error is Error.GROUP_ID_NOT_FOUND
    assert talk.leave("m1").error is Error.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize(
    "bring",
    [
        {"assignor": "range"},
        {"rack_id": "r1"},
        {"rebalance_timeout_us": 5_000 * MS},
        {"client_id": "another"},
        {"regex": "b.*"},
        {"topics": "a"},
    ],
    ids=lambda bring: next(iter(bring)),
)
def test_the_group_epoch_is_not_bumped_by_assignor_rack_timeout_client_id_an_unresolved_regex_or_the_same_topics(
    bring: dict[str, object],
) -> None:
    talk = pair()
    assert talk.beat("m1", **bring).error is Error.NONE  # type: ignore[arg-type]
    assert talk.epochs == (3, 3)


def test_the_group_epoch_is_bumped_once_by_new_topic_names_in_whatever_order_they_come() -> None:
    talk = Talk("a2 b2")
    talk.want(m1="a0 a1")
    talk.join("m1")
    talk.beat("m1", topics="b a")
    assert talk.epochs == (3, 3)
    talk.beat("m1", topics="a b")
    assert talk.epochs == (3, 3)
    assert [fact["trigger"] for fact in talk.told("EpochBumped")] == [
        "joined",
        "subscription-changed",
    ]


def test_added_partitions_bump_the_epoch_at_the_next_heartbeat_of_anybody_and_not_by_themselves() -> (
    None
):
    talk = pair()
    talk.topics("a6")
    talk.at(6_000)
    assert talk.epochs == (3, 3)
    talk.want(m1="a0 a1 a4", m2="a2 a3 a5")
    answer = talk.beat("m2")
    assert talk.epochs == (4, 4) and answer.assignment == {"aAAAAAAAAAAAAAAAAAAAAA": (2, 3, 5)}
    assert talk.told("EpochBumped")[-1] == {
        "epoch": 4,
        "trigger": "metadata-changed",
        "member_id": "m2",
    }


def test_a_topic_that_nobody_subscribes_to_changes_nothing() -> None:
    talk = pair()
    talk.topics("a4 z9")
    talk.beat("m1")
    assert talk.epochs == (3, 3)


def test_changed_replica_racks_bump_the_epoch() -> None:
    talk = pair()
    topic = talk.group.topics.by_name["a"]
    metadata_changed(
        talk.group, TopicsImage({"a": Topic(topic.topic_id, 4, (("r1", "r2"),) * 4)}), talk.now_us
    )
    talk.beat("m1")
    assert talk.epochs == (4, 4)


def test_metadata_that_changed_and_changed_back_bumps_nothing() -> None:
    talk = pair()
    talk.topics("a6")
    talk.topics("a4")
    talk.beat("m1")
    assert talk.epochs == (3, 3)


def test_a_leave_takes_the_new_metadata_in_so_that_they_do_not_bump_the_epoch_a_second_time() -> (
    None
):
    talk = pair()
    talk.topics("a6")
    talk.leave("m2")
    assert talk.epochs == (4, 3)
    talk.want(m1="a0 a1 a2 a3 a4 a5")
    talk.beat("m1")
    assert talk.epochs == (4, 4)


def test_a_subscribed_topic_that_appears_later_is_taken_in() -> None:
    talk = Talk("a2")
    talk.want(m1="a0 a1")
    talk.join("m1", topics="a b")
    talk.topics("a2 b1")
    talk.want(m1="a0 a1 b0")
    talk.beat("m1")
    assert talk.where("m1") == "STABLE 3: a0 a1 b0"


def test_a_deleted_topic_is_given_up() -> None:
    talk = Talk("a1 b1")
    talk.want(m1="a0 b0")
    talk.join("m1", topics="a b")
    talk.topics("a1")
    talk.want(m1="a0")
    talk.beat("m1")
    assert talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 -b0"
    talk.beat("m1", "a0")
    assert talk.where("m1") == "STABLE 3: a0"


def test_a_deleted_topic_is_given_up_even_while_the_interval_keeps_the_old_target() -> None:
    talk = Talk("a1 b1", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0 b0")
    talk.join("m1", topics="a b")
    talk.at(500)
    talk.topics("a1")
    talk.beat("m1", topics="a")
    assert talk.epochs == (3, 2) and talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 -b0"


# ------------------------------------------------------------------------------------- the interval


def test_within_the_interval_a_joiner_gets_the_old_epoch_an_empty_list_and_STABLE_and_the_group_is_assigning() -> (
    None
):
    talk = Talk("a4", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0 a1 a2 a3")
    talk.join("m1")
    talk.at(999)
    talk.want(m1="a0 a1", m2="a2 a3")
    answer = talk.join("m2")
    assert (answer.epoch, answer.assignment, talk.where("m2"), talk.state) == (
        2,
        {},
        "STABLE 2:",
        "Assigning",
    )
    assert talk.told("IntervalWaited") == [{"epoch": 3, "until_us": 1_000 * MS}]


def test_the_interval_has_no_timer_the_next_heartbeat_of_anybody_computes() -> None:
    talk = Talk("a4", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0 a1 a2 a3")
    talk.join("m1")
    talk.at(10)
    talk.want(m1="a0 a1", m2="a2 a3")
    talk.join("m2")
    talk.at(4_000)
    assert talk.epochs == (3, 2) and talk.state == "Assigning"
    talk.beat("m1")
    assert talk.epochs == (3, 3) and talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 a1 -a2 -a3"


def test_exactly_at_the_end_of_the_interval_a_target_may_be_computed() -> None:
    talk = Talk("a4", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0")
    talk.join("m1")
    talk.at(1_000)
    talk.join("m2")
    assert talk.epochs == (3, 3)


def test_the_broker_tells_time_in_whole_ms() -> None:
    talk = Talk("a4", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0")
    talk.now_us = 7_900
    talk.join("m1")
    talk.now_us = 1_007_000
    talk.join("m2")
    assert talk.epochs == (3, 3)


def test_a_lone_member_of_a_group_that_was_empty_waits_for_the_interval_too() -> None:
    talk = Talk("a4", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0 a1 a2 a3", m2="a0 a1 a2 a3")
    talk.join("m1")
    talk.at(100)
    talk.leave("m1")
    assert talk.state == "Empty"
    answer = talk.join("m2")
    assert (answer.epoch, answer.assignment, talk.state) == (2, {}, "Assigning")
    talk.at(5_000)
    assert talk.beat("m2").assignment == {"aAAAAAAAAAAAAAAAAAAAAA": (0, 1, 2, 3)}


def test_a_burst_of_changes_within_the_interval_costs_one_computation() -> None:
    talk = Talk("a4", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0")
    for i in range(5):
        talk.at(i * 100)
        talk.join(f"m{i}")
    talk.at(2_000)
    for i in range(5):
        talk.beat(f"m{i}")
    assert len(talk.asked) == 2 and talk.epochs == (6, 6)
    assert [fact["epoch"] for fact in talk.told("IntervalWaited")] == [3, 4, 5, 6]


def test_an_interval_of_0_computes_at_every_change() -> None:
    talk = Talk("a4")
    for i in range(5):
        talk.join(f"m{i}")
    assert len(talk.asked) == 5


# ---------------------------------------------------------------------------------------- assignors


def test_the_default_assignor_is_the_first_of_the_brokers_list() -> None:
    talk = Talk()
    talk.join("m1")
    assert talk.asked[-1][0] == "uniform"


def test_the_assignor_that_most_members_name_is_taken() -> None:
    talk = Talk()
    for name, assignor in (("m1", "uniform"), ("m2", "range"), ("m3", "range")):
        talk.join(name, assignor=assignor)
    assert talk.asked[-1][0] == "range"


def test_a_tie_of_one_to_one_goes_to_the_assignor_of_the_member_whose_heartbeat_computes() -> None:
    talk = pair()
    talk.beat("m1", assignor="uniform")
    talk.beat("m2", assignor="range")
    for turn in ("m1", "m2", "m1"):
        talk.topics(f"a{8 + len(talk.asked)}")
        talk.beat(turn)
        assert talk.asked[-1][0] == {"m1": "uniform", "m2": "range"}[turn]


def test_any_other_tie_goes_to_uniform() -> None:
    talk = Talk()
    for name, assignor in (("m1", "range"), ("m2", "range"), ("m3", "uniform"), ("m4", "uniform")):
        talk.join(name, assignor=assignor)
    for turn in ("m1", "m3"):
        talk.topics(f"a{8 + len(talk.asked)}")
        talk.beat(turn)
        assert talk.asked[-1][0] == "uniform"


def test_a_preferred_assignor_alone_recomputes_nothing() -> None:
    talk = pair()
    before = len(talk.asked)
    talk.beat("m1", assignor="range")
    assert len(talk.asked) == before


def test_an_assignor_that_fails_answers_UNKNOWN_SERVER_ERROR_and_leaves_the_group_as_it_was() -> (
    None
):
    def broken(*_: object) -> object:
        raise ValueError("no")

    talk = Talk(assignors={"uniform": broken})
    answer = talk.join("m1")
    assert answer.error is Error.UNKNOWN_SERVER_ERROR and "no" in answer.text
    assert not talk.group.exists and not talk.group.members and talk.epochs == (1, 1)
    assert [type(effect) for effect in talk.effects] == [Reply]


def test_the_assignor_sees_previous_targets_not_what_members_hold() -> None:
    talk = Talk("a4")
    talk.want(m1="a0 a1 a2 a3")
    talk.join("m1")
    talk.want(m1="a0 a1", m2="a2 a3")
    talk.join("m2")
    talk.join("m3")
    assert {m.member_id: sum(map(len, m.target.values())) for m in talk.asked[-1][1]} == {
        "m1": 2,
        "m2": 2,
        "m3": 0,
    }


def test_the_assignor_gets_topics_by_id_without_those_that_do_not_exist() -> None:
    talk = Talk("a4 b1")
    talk.join("m1", topics="b nowhere a")
    assert set(talk.asked[-1][1][0].topics) == {"aAAAAAAAAAAAAAAAAAAAAA", "bAAAAAAAAAAAAAAAAAAAAA"}


def test_a_group_is_homogeneous_when_all_name_the_same_topics() -> None:
    talk = Talk("a4 b1")
    talk.join("m1", topics="a b")
    talk.join("m2", topics="b a")
    assert talk.asked[-1][2] is True
    talk.beat("m2", topics="a")
    assert talk.asked[-1][2] is False


def test_a_joiner_without_topics_leaves_the_group_homogeneous_as_kafka_does() -> None:
    talk = Talk("a4")
    talk.join("m1")
    talk.leave("m1")
    talk.join("m2", topics="")
    assert talk.asked[-1][2] is True and [len(m.topics) for m in talk.asked[-1][1]] == [0]


# -------------------------------------------------------------------------------- a quiet heartbeat


def test_a_heartbeat_without_changes_renews_the_session_answers_at_once_and_writes_nothing() -> (
    None
):
    talk = pair()
    talk.at(7_000)
    answer = talk.beat("m1")
    assert (answer.error, answer.assignment, answer.heartbeat_interval_us) == (
        Error.NONE,
        None,
        5_000 * MS,
    )
    assert (
        talk.effects == [SetTimer("session:m1", 52_000 * MS), Reply(talk.number, answer, True)]
        and not talk.wrote
    )


def test_a_quiet_heartbeat_looks_at_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = pair()

    class Untouchable(dict[str, object]):
        def items(self) -> object:  # type: ignore[override]
            raise AssertionError("walked the whole table")

        values = keys = __iter__ = items  # type: ignore[assignment]

    for table in ("owners", "targets", "topic_counts", "statics", "metadata"):
        monkeypatch.setattr(talk.group, table, Untouchable(getattr(talk.group, table)))
    monkeypatch.setattr(type(talk.group.members), "__iter__", Untouchable.items)
    assert talk.beat("m1").error is Error.NONE
    assert talk.state == "Stable"
