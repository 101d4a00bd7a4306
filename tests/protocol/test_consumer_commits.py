"""Which commits and fetches of offsets a member's epoch is good for (KIP-1251)."""

from __future__ import annotations

import pytest
from consumer_talk import Error, Talk, held

from rebalsim.protocol.consumer.commits import check_commit, check_fetch

A = "aAAAAAAAAAAAAAAAAAAAAA"
NONE, STALE = Error.NONE, Error.STALE_MEMBER_EPOCH


def growing(**settings: object) -> Talk:
    """m1 is at epoch 4: a0 since 2, a1 since 3; a2 came at 4."""
    talk = Talk("a1", **settings)
    for epoch in (2, 3, 4):
        talk.topics(f"a{epoch - 1}")
        talk.want(m1=" ".join(f"a{p}" for p in range(epoch - 1)))
        if epoch == 2:
            talk.join("m1")
        else:
            talk.beat("m1")
    assert talk.where("m1") == "STABLE 4: a0 a1 a2"
    return talk


def commit(
    talk: Talk, epoch: int, what: str = "a0 a1 a2", member: str = "m1", **more: object
) -> Error:
    partitions = [(topic, p) for topic, numbers in held(what).items() for p in numbers]
    return check_commit(talk.group, member, epoch, partitions, **more)  # type: ignore[arg-type]


def test_a_commit_with_the_members_epoch_is_good_for_any_partition() -> None:
    assert commit(growing(), 4, "a0 a7") is NONE


@pytest.mark.parametrize(
    "epoch, good, no_good", [(3, "a0 a1", "a2"), (2, "a0", "a1 a2"), (1, "", "a0 a1 a2")]
)
def test_an_older_epoch_is_good_for_partitions_given_at_it_or_before(
    epoch: int, good: str, no_good: str
) -> None:
    talk = growing()
    assert commit(talk, epoch, good) is NONE
    assert all(commit(talk, epoch, partition) is STALE for partition in no_good.split())


def test_one_partition_that_the_epoch_is_no_good_for_fails_the_whole_commit() -> None:
    assert commit(growing(), 3, "a0 a1 a2") is STALE


def test_an_older_epoch_is_no_good_for_a_partition_the_member_does_not_have() -> None:
    assert commit(growing(), 3, "a7") is STALE


def test_an_epoch_of_the_future_is_stale_even_for_no_partition_at_all() -> None:
    assert commit(growing(), 5, "") is STALE


def test_before_4_3_any_other_epoch_is_stale() -> None:
    assert commit(growing(commits_by_partition=False), 3, "a0") is STALE


def test_what_is_pending_revocation_can_still_be_committed_with_an_older_epoch() -> None:
    talk = growing()
    talk.topics("a4")
    talk.want(m1="a0")
    talk.beat("m1", "a0 a1 a2")
    assert talk.where("m1") == "UNREVOKED_PARTITIONS 4: a0 -a1 -a2"
    assert [commit(talk, 3, partition) for partition in ("a0", "a1", "a2")] == [NONE, NONE, STALE]


def test_a_static_member_that_is_away_cannot_commit() -> None:
    talk = Talk("a1")
    talk.want(m1="a0")
    talk.join("m1", instance="i1")
    talk.leave("m1", "i1", -2)
    assert commit(talk, 2, "a0") is STALE


def test_a_partition_kept_over_an_absence_can_be_committed_with_any_epoch_of_the_new_life() -> None:
    talk = Talk("a1")
    talk.want(m1="a0")
    talk.join("m1", instance="i1")
    talk.leave("m1", "i1", -2)
    talk.want(m2="a0")
    talk.join("m2", instance="i1")
    talk.topics("a2")
    talk.beat("m2")
    assert talk.group.members["m2"].epoch == 3 and commit(talk, 2, "a0", "m2") is NONE


def test_an_unknown_member_cannot_commit() -> None:
    assert commit(growing(), 4, "a0", "m9") is Error.UNKNOWN_MEMBER_ID


def test_somebody_without_group_management_may_commit_to_an_empty_group_only() -> None:
    talk = growing()
    assert commit(talk, -1, "a0", "") is Error.UNKNOWN_MEMBER_ID
    talk.leave("m1")
    assert commit(talk, -1, "a0", "") is NONE


def test_a_producer_may_commit_in_a_transaction_without_saying_for_whom() -> None:
    assert commit(growing(), -1, "a0", "", is_transactional=True) is NONE
    assert (
        commit(growing(), -1, "a0", "", is_transactional=True, instance_id="i1")
        is Error.UNKNOWN_MEMBER_ID
    )


def test_a_client_too_old_to_know_epochs_cannot_commit() -> None:
    assert commit(growing(), 4, "a0", version=8) is Error.UNSUPPORTED_VERSION


def test_a_fetch_of_offsets_needs_the_members_very_epoch() -> None:
    group = growing().group
    assert [check_fetch(group, "m1", epoch) for epoch in (4, 3, 5)] == [NONE, STALE, STALE]
    assert check_fetch(group, "m9", 4) is Error.UNKNOWN_MEMBER_ID
    assert (
        check_fetch(group, None, -1) is NONE
        and check_fetch(group, None, 4) is Error.UNKNOWN_SERVER_ERROR
    )


def test_a_commit_to_a_group_that_does_not_exist_is_told_so() -> None:
    assert commit(Talk(), 1) is Error.GROUP_ID_NOT_FOUND
