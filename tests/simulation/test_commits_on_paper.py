"""A consumer's commits alone, on paper: when the periodic one leaves, what a refused one does, and how
long one that is waited for may take.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from paper import SECOND, PaperCall, PaperConsumer, result_of

from rebalsim.domain.ids import Partition
from rebalsim.protocol.classic_member import MemberState
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.simulation.commits import Commits

INTERVAL_US = 5 * SECOND  # auto.commit.interval.ms
BACKOFF_US = 100_000
OFFSETS = {Partition("t", 0): 5}


def committing(commit: str = "auto") -> tuple[PaperConsumer, Commits]:
    consumer = PaperConsumer(commit=commit)
    return consumer, Commits(consumer)  # type: ignore[arg-type]


def answers(*errors: Error | None) -> Callable[[PaperCall], Error | None]:
    """These in turn, and the last one from then on."""
    left = list(errors)
    return lambda call: left.pop(0) if len(left) > 1 else left[0]


# ------------------------------------------------------------------------------------- the periodic


def test_the_periodic_one_leaves_when_its_interval_is_over_and_not_before() -> None:
    consumer, commits = committing()
    consumer.go_on(INTERVAL_US - 2)
    commits.maybe_auto()
    assert consumer.sent == []
    consumer.go_on(INTERVAL_US)
    commits.maybe_auto()
    commits.maybe_auto()
    assert [call.request.offsets for call in consumer.sent] == [OFFSETS]
    assert commits.due_us == consumer.now + INTERVAL_US


def test_one_that_a_loading_coordinator_refuses_is_due_again_after_the_backoff() -> None:
    consumer, commits = committing()
    consumer.answers = answers(Error.COORDINATOR_LOAD_IN_PROGRESS)
    consumer.go_on(INTERVAL_US)
    commits.maybe_auto()
    assert commits.due_us == consumer.now + BACKOFF_US
    assert consumer.told == []


def test_nothing_is_committed_of_who_has_read_nothing() -> None:
    consumer, commits = committing()
    consumer.feed.consumed = dict
    consumer.go_on(INTERVAL_US)
    commits.maybe_auto()
    assert consumer.sent == []


def test_who_joins_commits_nothing_by_itself() -> None:
    consumer, commits = committing()
    consumer.member.state = MemberState.PREPARING
    consumer.go_on(INTERVAL_US)
    commits.maybe_auto()
    assert consumer.sent == [] and commits.under_way == 0


def test_an_application_that_commits_itself_has_no_periodic_one() -> None:
    consumer, commits = committing("sync-batch")
    consumer.go_on(3 * INTERVAL_US)
    commits.maybe_auto()
    assert consumer.sent == []
    assert commits.is_awaited


# ------------------------------------------------------------------------------ what is waited for


def test_commit_sync_tries_again_until_the_coordinator_has_loaded() -> None:
    consumer, commits = committing("sync-batch")
    consumer.answers = answers(
        Error.COORDINATOR_LOAD_IN_PROGRESS, Error.COORDINATOR_LOAD_IN_PROGRESS, Error.NONE
    )
    assert result_of(consumer, commits.sync(60 * SECOND)) == "ok"
    first, second, third = consumer.of("OffsetCommit")
    assert second - first >= BACKOFF_US and third - second >= 2 * BACKOFF_US  # it doubles


def test_commit_sync_gives_up_when_its_time_is_over() -> None:
    consumer, commits = committing("sync-batch")
    consumer.answers = answers(None)
    assert result_of(consumer, commits.sync(60 * SECOND)) == "late"
    assert [(event.at_us // SECOND, event.error) for event in consumer.told] == [(60, "Timeout")]


def test_commit_sync_looks_for_a_coordinator_that_is_not_known() -> None:
    consumer, commits = committing("sync-batch")
    consumer.coordinator = None
    assert result_of(consumer, commits.sync(60 * SECOND)) == "ok"
    assert consumer.coordinator == 0 and len(consumer.sent) == 1


def test_commit_sync_of_one_that_joins_is_refused_by_the_client_itself() -> None:
    consumer, commits = committing("sync-batch")
    consumer.member.state = MemberState.PREPARING
    assert result_of(consumer, commits.sync(60 * SECOND)) == "rebalancing"
    assert consumer.sent == []
    assert [event.error for event in consumer.told] == ["RebalanceInProgress"]


# ------------------------------------------------------------------------------------- asynchronous


def test_an_asynchronous_one_waits_for_the_coordinator_to_be_found() -> None:
    consumer, commits = committing("async")
    consumer.coordinator = None
    commits.send_async(OFFSETS)
    assert consumer.sent == [] and consumer.look_ups == 1
    consumer.coordinator = 0
    commits.send_waiting()
    assert [call.request.offsets for call in consumer.sent] == [OFFSETS]
    assert commits.waiting == []


def test_what_waited_fails_with_a_look_up_that_fails() -> None:
    consumer, commits = committing("async")
    consumer.coordinator = None
    commits.send_async(OFFSETS)
    commits.send_waiting()
    assert consumer.sent == [] and commits.waiting == []


# ------------------------------------------------------------------------------------------- answers


def test_a_commit_tells_of_a_rebalance_of_which_no_beat_has_told() -> None:
    consumer, commits = committing("async")
    consumer.answers = answers(Error.REBALANCE_IN_PROGRESS)
    commits.send_async(OFFSETS)
    commits.send_async(OFFSETS)
    assert consumer.kinds().count("CommitRefused") == 2
    assert consumer.kinds().count("RebalanceNoticed") == 1
    assert consumer.member.needs_rejoin


@pytest.mark.parametrize("error", [Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION])
def test_who_is_no_member_any_more_hears_it_from_its_commit(error: Error) -> None:
    consumer, commits = committing("async")
    consumer.answers = answers(error)
    commits.send_async(OFFSETS)
    assert consumer.expelled == [error]


@pytest.mark.parametrize("state", [MemberState.PREPARING, MemberState.STABLE])
def test_the_answer_to_a_commit_of_an_older_generation_expels_nobody(state: MemberState) -> None:
    consumer, commits = committing("async")
    consumer.answers = answers(None)
    commits.send_async(OFFSETS)
    consumer.member.generation, consumer.member.state = 2, state
    consumer.sent[0].answer(Error.ILLEGAL_GENERATION)
    assert consumer.expelled == []
    assert commits.under_way == 0


def test_a_fenced_member_is_told_and_expelled() -> None:
    consumer, commits = committing("async")
    consumer.answers = answers(Error.FENCED_INSTANCE_ID)
    commits.send_async(OFFSETS)
    assert "Fenced" in consumer.kinds()
    assert consumer.expelled == [Error.FENCED_INSTANCE_ID]


@pytest.mark.parametrize("error", [Error.NOT_COORDINATOR, Error.REQUEST_TIMED_OUT])
def test_a_coordinator_that_is_none_or_too_slow_is_left(error: Error) -> None:
    consumer, commits = committing()
    consumer.answers = answers(error)
    consumer.go_on(INTERVAL_US)
    commits.maybe_auto()
    assert [why for _, why in consumer.lost] == [f"error response {error.name}"]
