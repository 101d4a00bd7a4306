"""How partitions go from one member to another: told to give up, acknowledged, free, and picked
up at the new owner's own heartbeat.
"""

from __future__ import annotations

from consumer_talk import MS, Error, Talk, written


def sharing() -> Talk:
    """m1 has all of topic a and m2, which just joined, is to get half of it; m1 does not know
    yet.
    """
    talk = Talk("a4")
    talk.want(m1="a0 a1 a2 a3")
    talk.join("m1")
    talk.want(m1="a0 a1", m2="a2 a3")
    talk.join("m2")
    return talk


def test_a_joiner_waits_with_an_empty_list_at_the_new_epoch_while_the_owner_knows_nothing() -> None:
    talk = sharing()
    assert (
        talk.where("m2") == "UNRELEASED_PARTITIONS 3:"
        and talk.where("m1") == "STABLE 2: a0 a1 a2 a3"
    )
    assert talk.state == "Reconciling"
    assert talk.told("ReleaseAwaited") == [
        {"member_id": "m2", "partitions": (("a", 2), ("a", 3)), "owners": ("m1", "m1")}
    ]


def test_the_owner_learns_at_its_own_heartbeat_keeps_its_epoch_and_is_given_a_rebalance_timeout() -> (
    None
):
    talk = sharing()
    talk.at(5_000)
    answer = talk.beat("m1")
    assert (answer.epoch, written(answer.assignment)) == (2, "a0 a1")
    assert talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 a1 -a2 -a3"
    assert talk.timers["rebalance:m1"] == 65_000 * MS


def test_partitions_are_not_handed_on_before_their_owner_acknowledges() -> None:
    talk = sharing()
    talk.beat("m1")
    for _ in range(3):
        answer = talk.beat("m2")
        assert answer.assignment is None and talk.where("m2") == "UNRELEASED_PARTITIONS 3:"


def test_an_acknowledgement_frees_them_at_once_but_the_new_owner_gets_them_only_in_its_own_next_heartbeat() -> (
    None
):
    talk = sharing()
    talk.beat("m1")
    talk.beat("m1", "a0 a1")
    assert talk.where("m1") == "STABLE 3: a0 a1" and talk.where("m2") == "UNRELEASED_PARTITIONS 3:"
    assert talk.told("PartitionsReleased") == [
        {"member_id": "m1", "partitions": (("a", 2), ("a", 3))}
    ]
    assert "rebalance:m1" not in talk.timers
    assert written(talk.beat("m2").assignment) == "a2 a3" and talk.state == "Stable"


def test_a_heartbeat_without_a_list_of_owned_partitions_acknowledges_nothing() -> None:
    talk = sharing()
    talk.beat("m1")
    before = talk.timers["rebalance:m1"]
    talk.at(1_000)
    assert talk.beat("m1").assignment is None
    assert (
        talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 a1 -a2 -a3"
        and talk.timers["rebalance:m1"] == before
    )


def test_a_list_that_still_holds_one_of_them_acknowledges_nothing() -> None:
    talk = sharing()
    talk.beat("m1")
    talk.beat("m1", "a0 a1 a3")
    assert talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 a1 -a2 -a3"


def test_a_member_gives_up_all_first_and_receives_in_the_very_heartbeat_that_acknowledges() -> None:
    talk = Talk("a4")
    talk.want(m1="a0 a1")
    talk.join("m1")
    talk.topics("a5")
    talk.want(m1="a2 a3")
    talk.beat("m1")
    assert talk.where("m1") == "UNREVOKED_PARTITIONS 2:  -a0 -a1"
    assert written(talk.beat("m1", "").assignment) == "a2 a3"
    assert talk.where("m1") == "STABLE 3: a2 a3"


def test_a_request_that_proves_the_partitions_are_gone_already_needs_no_second_one() -> None:
    talk = sharing()
    answer = talk.beat("m1", "a0 a1")
    assert (answer.epoch, written(answer.assignment), talk.where("m1")) == (
        3,
        "a0 a1",
        "STABLE 3: a0 a1",
    )


def test_the_epoch_advances_while_partitions_are_missing_and_free_ones_are_handed_out_one_heartbeat_after_another() -> (
    None
):
    talk = Talk("a4")
    talk.want(m1="a0 a1 a2", m2="a3")
    talk.join("m1")
    talk.join("m2")
    talk.want(m1="a0", m2="", m3="a1 a2 a3")
    talk.join("m3")
    talk.beat("m2")
    talk.beat("m2", "")
    assert (
        written(talk.beat("m3").assignment) == "a3"
        and talk.where("m3") == "UNRELEASED_PARTITIONS 4: a3"
    )
    talk.beat("m1", "a0")
    assert (
        written(talk.beat("m3").assignment) == "a1 a2 a3"
        and talk.where("m3") == "STABLE 4: a1 a2 a3"
    )


def test_a_waiting_member_follows_a_newer_target() -> None:
    talk = sharing()
    talk.topics("a5")
    talk.want(m1="a0 a1 a2 a3", m2="a4")
    assert written(talk.beat("m2").assignment) == "a4" and talk.where("m2") == "STABLE 4: a4"
    assert talk.beat("m1").assignment is None and talk.where("m1") == "STABLE 4: a0 a1 a2 a3"


def test_a_waiting_member_can_be_told_to_give_up_what_it_has() -> None:
    talk = Talk("a4")
    talk.want(m1="a0 a1 a2")
    talk.join("m1")
    talk.want(m1="a0", m2="a1 a3")
    talk.join("m2")
    assert talk.where("m2") == "UNRELEASED_PARTITIONS 3: a3"
    talk.topics("a5")
    talk.want(m1="a0 a3", m2="a1")
    talk.beat("m2")
    assert talk.where("m2") == "UNREVOKED_PARTITIONS 3:  -a3"
    talk.beat("m2", "")
    assert talk.where("m2") == "UNRELEASED_PARTITIONS 4:"


def test_a_member_that_owes_a_revocation_does_not_look_at_newer_targets_until_it_acknowledges() -> (
    None
):
    talk = sharing()
    talk.beat("m1")
    talk.topics("a5")
    talk.want(m1="a0 a1 a2 a3 a4")
    talk.beat("m1")
    assert talk.epochs == (4, 4) and talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 a1 -a2 -a3"


def test_what_a_member_is_about_to_give_back_counts_as_free_for_itself() -> None:
    talk = sharing()
    talk.beat("m1")
    talk.topics("a5")
    talk.want(m1="a0 a1 a2 a3 a4")
    talk.beat("m2")
    assert written(talk.beat("m1", "a0 a1").assignment) == "a0 a1 a2 a3 a4"
    assert talk.where("m1") == "STABLE 4: a0 a1 a2 a3 a4"
    assert dict(talk.group.owners["aAAAAAAAAAAAAAAAAAAAAA"]) == dict.fromkeys(range(5), "m1")


def test_a_second_revocation_right_after_the_first_starts_the_rebalance_timer_anew() -> None:
    talk = Talk("a4")
    talk.want(m1="a0 a1 a2 a3")
    talk.join("m1")
    talk.topics("a5")
    talk.want(m1="a0 a1 a2")
    talk.beat("m1")
    talk.at(10_000)
    talk.topics("a6")
    talk.want(m1="a0")
    talk.beat("m1", "a0 a1 a2")
    assert (
        talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 -a1 -a2"
        and talk.timers["rebalance:m1"] == 70_000 * MS
    )


def test_an_assignment_is_answered_to_a_full_request_even_if_nothing_changed() -> None:
    talk = sharing()
    assert written(talk.full("m2", "").assignment) == ""
    assert talk.beat("m2", "").assignment is None


def test_an_assignment_never_lists_what_others_still_hold() -> None:
    talk = sharing()
    assert written(talk.full("m2", "").assignment) == ""
    assert written(talk.group.targets["m2"]) == "a2 a3"


def test_topics_given_up_by_a_new_subscription_go_at_once_even_while_the_interval_keeps_the_old_target() -> (
    None
):
    talk = Talk("a2 b2", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0 a1 b0 b1")
    talk.join("m1", topics="a b")
    talk.at(100)
    assert written(talk.beat("m1", topics="a").assignment) == "a0 a1"
    assert talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 a1 -b0 -b1" and talk.epochs == (3, 2)
    talk.beat("m1", "a0 a1")
    assert talk.where("m1") == "STABLE 2: a0 a1"


def test_a_member_that_owes_one_topic_and_drops_another_owes_both() -> None:
    talk = Talk("a1 b1 c1", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0 b0 c0")
    talk.join("m1", topics="a b c")
    talk.at(100)
    talk.beat("m1", topics="a b")
    talk.beat("m1", topics="a")
    assert talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 -b0 -c0"
    talk.beat("m1", "a0 b0")
    assert talk.where("m1") == "UNREVOKED_PARTITIONS 2: a0 -b0 -c0"


def test_a_subscription_taken_back_gives_everything_up() -> None:
    talk = Talk("a2", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0 a1")
    talk.join("m1")
    talk.at(100)
    talk.beat("m1", topics="")
    assert talk.where("m1") == "UNREVOKED_PARTITIONS 2:  -a0 -a1"


def test_a_topic_is_not_added_to_a_member_that_no_longer_subscribes_to_it_though_the_old_target_has_it() -> (
    None
):
    talk = Talk("a2 b2", assignment_interval_us=1_000 * MS)
    talk.want(m1="a0 a1 b0 b1")
    talk.join("m1", topics="a b")
    talk.at(2_000)
    talk.want(m1="a0 a1", m2="b0 b1")
    talk.join("m2", topics="b")
    talk.at(2_100)
    assert talk.beat("m2", topics="a").error is Error.NONE
    talk.beat("m1", "a0 a1")
    talk.beat("m2")
    assert talk.where("m2") == "STABLE 3:"


def test_nobody_ever_owns_what_another_one_owns() -> None:
    talk = sharing()
    talk.beat("m1")
    owners = talk.group.owners["aAAAAAAAAAAAAAAAAAAAAA"]
    assert owners == dict.fromkeys(range(4), "m1")
    talk.beat("m1", "a0 a1")
    assert owners == {0: "m1", 1: "m1"}
    talk.beat("m2")
    assert owners == {0: "m1", 1: "m1", 2: "m2", 3: "m2"}


def test_a_change_of_state_is_told_with_before_after_and_epoch() -> None:
    talk = sharing()
    talk.beat("m1")
    assert talk.told("MemberStateChanged")[-1] == {
        "member_id": "m1",
        "before": "Stable",
        "after": "UnrevokedPartitions",
        "epoch": 2,
    }
    assert talk.told("AssignmentComputed")[-1] == {
        "generation": 3,
        "assignor": "uniform",
        "moved": 2,
        "least": -1,
        "member_id": "",
    }
    assert talk.told("GroupStateChanged")[-1]["after"] == "Reconciling"
