"""Static members under the consumer protocol: away for a while, replaced, or turned away."""

from __future__ import annotations

from consumer_talk import MS, Error, Talk, written


def statics() -> Talk:
    """m1 (i1) and m2 (i2) share topic a."""
    talk = Talk("a4", session_timeout_us=45_000 * MS)
    talk.want(m1="a0 a1", m2="a2 a3")
    talk.join("m1", instance="i1")
    talk.join("m2", instance="i2")
    talk.beat("m1", instance="i1")
    return talk


def test_a_static_member_that_leaves_for_a_while_keeps_its_partitions_and_bumps_nothing() -> None:
    talk = statics()
    answer = talk.leave("m1", "i1", -2)
    assert (answer.error, answer.epoch) == (Error.NONE, -2)
    assert (
        talk.where("m1") == "STABLE -2: a0 a1"
        and talk.epochs == (3, 3)
        and talk.state == "Reconciling"
    )
    assert talk.group.owners["aAAAAAAAAAAAAAAAAAAAAA"][0] == "m1"


def test_its_place_is_kept_until_one_session_timeout_after_its_last_heartbeat_not_after_it_left() -> (
    None
):
    talk = statics()
    talk.at(30_000)
    talk.beat("m2", instance="i2")
    talk.leave("m1", "i1", -2)
    talk.at(44_999)
    assert "m1" in talk.group.members
    talk.at(45_000)
    assert "m1" not in talk.group.members


def test_the_one_that_comes_back_takes_over_assignment_and_target_without_a_rebalance() -> None:
    talk = statics()
    talk.leave("m1", "i1", -2)
    asked = len(talk.asked)
    answer = talk.join("m3", instance="i1")
    assert (answer.member_id, answer.epoch, written(answer.assignment)) == ("m3", 3, "a0 a1")
    assert talk.epochs == (3, 3) and len(talk.asked) == asked and talk.state == "Stable"
    assert "m1" not in talk.group.members and written(talk.group.targets["m3"]) == "a0 a1"
    assert [fact["why"] for fact in talk.told("MemberRemoved")] == ["replaced"]
    assert talk.told("MemberAdded")[-1] == {"member_id": "m3", "how": "replacement"}


def test_the_timer_of_the_one_that_was_replaced_finds_nobody() -> None:
    talk = statics()
    talk.leave("m1", "i1", -2)
    talk.at(30_000)
    talk.join("m3", instance="i1")
    talk.beat("m2", instance="i2")
    assert "session:m1" in talk.timers
    talk.at(50_000)
    assert sorted(talk.group.members) == ["m2", "m3"] and talk.epochs == (3, 3)


def test_it_may_come_back_under_its_own_member_id() -> None:
    talk = statics()
    talk.leave("m1", "i1", -2)
    answer = talk.join("m1", instance="i1")
    assert (answer.epoch, written(answer.assignment), talk.where("m1")) == (
        3,
        "a0 a1",
        "STABLE 3: a0 a1",
    )


def test_one_that_comes_back_with_another_subscription_bumps_the_epoch_and_brings_its_predecessors_target_to_the_assignor() -> (
    None
):
    talk = statics()
    talk.topics("a4 b1")
    talk.leave("m1", "i1", -2)
    talk.want(m2="a2 a3", m3="a0 a1 b0")
    answer = talk.join("m3", topics="a b", instance="i1")
    assert (answer.epoch, written(answer.assignment)) == (4, "a0 a1 b0")
    newcomer = next(m for m in talk.asked[-1][1] if m.member_id == "m3")
    assert (
        written(newcomer.target) == "a0 a1"
        and [m.member_id for m in talk.asked[-1][1] if m.member_id == "m1"] == []
    )


def test_a_newcomer_is_turned_away_while_the_instance_id_is_taken_the_opposite_of_the_classic_protocol() -> (
    None
):
    talk = statics()
    assert talk.join("m3", instance="i1").error is Error.UNRELEASED_INSTANCE_ID
    assert talk.where("m1") == "STABLE 3: a0 a1"


def test_even_the_holder_itself_is_turned_away_when_it_joins_again() -> None:
    talk = statics()
    assert talk.join("m1", instance="i1").error is Error.UNRELEASED_INSTANCE_ID


def test_a_killed_static_member_comes_back_only_after_its_session() -> None:
    talk = statics()
    talk.at(20_000)
    talk.beat("m2", instance="i2")
    assert talk.join("m3", instance="i1").error is Error.UNRELEASED_INSTANCE_ID
    talk.at(45_000)
    assert talk.join("m3", instance="i1").error is Error.NONE
    assert talk.told("MemberAdded")[-1]["how"] == "static"


def test_a_heartbeat_with_a_wrong_member_id_for_the_instance_id_is_fenced() -> None:
    talk = statics()
    assert talk.beat("m9", epoch=3, instance="i1").error is Error.FENCED_INSTANCE_ID
    assert talk.leave("m9", "i1").error is Error.FENCED_INSTANCE_ID
    assert talk.leave("m9", "i1", -2).error is Error.FENCED_INSTANCE_ID


def test_an_instance_id_that_nobody_has_is_unknown() -> None:
    talk = statics()
    assert talk.beat("m1", instance="i9").error is Error.UNKNOWN_MEMBER_ID
    assert talk.leave("m1", "i9", -2).error is Error.UNKNOWN_MEMBER_ID


def test_a_static_member_that_leaves_for_good_is_removed_at_once() -> None:
    talk = statics()
    talk.leave("m1", "i1")
    assert (
        "m1" not in talk.group.members and talk.epochs == (4, 3) and "i1" not in talk.group.statics
    )


def test_a_static_member_may_speak_and_leave_without_naming_its_instance_id() -> None:
    talk = statics()
    assert talk.beat("m1").error is Error.NONE
    assert talk.leave("m1").error is Error.NONE
    assert "i1" not in talk.group.statics


def test_what_was_pending_revocation_is_free_when_its_static_owner_goes_away() -> None:
    talk = statics()
    talk.want(m1="a0", m2="a1 a2 a3")
    talk.topics("a5")
    talk.beat("m1", instance="i1")
    assert talk.where("m1") == "UNREVOKED_PARTITIONS 3: a0 -a1"
    talk.leave("m1", "i1", -2)
    assert talk.told("PartitionsReleased") == [{"member_id": "m1", "partitions": (("a", 1),)}]
    assert written(talk.beat("m2", instance="i2").assignment) == "a1 a2 a3"


def test_one_that_owed_a_revocation_when_it_went_away_comes_back_without_the_debt() -> None:
    talk = statics()
    talk.want(m1="a0", m2="a1 a2 a3")
    talk.topics("a5")
    talk.beat("m1", instance="i1")
    talk.leave("m1", "i1", -2)
    talk.join("m3", instance="i1")
    assert talk.where("m3") == "STABLE 4: a0" and "rebalance:m3" not in talk.timers


def test_partitions_of_a_member_that_is_away_are_not_free() -> None:
    talk = statics()
    talk.leave("m1", "i1", -2)
    talk.want(m2="a0 a1 a2 a3")
    talk.topics("a5")
    assert talk.beat("m2", instance="i2").assignment is None
    assert talk.where("m2") == "UNRELEASED_PARTITIONS 4: a2 a3"


def test_a_dynamic_member_that_joins_again_with_an_instance_id_becomes_static_and_starts_from_no_target_as_in_kafka() -> (
    None
):
    talk = Talk("a2")
    talk.want(m1="a0 a1")
    talk.join("m1")
    answer = talk.join("m1", instance="i1")
    assert written(answer.assignment) == "a0 a1" and talk.group.statics == {"i1": "m1"}


def test_an_instance_id_left_behind_by_a_member_that_changed_it_and_went_answers_UNKNOWN_MEMBER_ID() -> (
    None
):
    talk = Talk("a2")
    talk.join("m1", instance="i1")
    talk.join("m1", instance="i2")
    talk.leave("m1", "i2")
    assert talk.join("m2", instance="i1").error is Error.UNKNOWN_MEMBER_ID


def test_a_member_that_takes_the_place_of_another_instance_leaves_nothing_of_its_own_behind() -> (
    None
):
    talk = Talk("a4")
    talk.want(m1="a0 a1", m2="a2 a3")
    talk.join("m1", instance="i1")
    talk.join("m2", instance="i2")
    talk.beat("m1", "a0 a1", instance="i1")
    talk.leave("m1", "i1", epoch=-2)
    talk.want(m2="a0 a1", m3="a2 a3")
    talk.join("m2", instance="i1")
    talk.join("m3")
    talk.beat("m2", "a0 a1", instance="i1")
    assert talk.where("m3").startswith("STABLE") and talk.where("m3").endswith("a2 a3")
