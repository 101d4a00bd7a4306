"""A Java member of a consumer group: which state may follow which, what a beat says, and what
its answer makes of the member.
"""

from __future__ import annotations

import pytest

from rebalsim.domain.errors import BugError
from rebalsim.domain.ids import Partition
from rebalsim.protocol.consumer_member import ClientState, ConsumerMember

A, B, C = (Partition("t", n) for n in range(3))
S = ClientState


def member(state: ClientState = S.UNSUBSCRIBED, instance: str | None = None) -> ConsumerMember:
    made = ConsumerMember("m", instance)
    made.state = state
    return made


def joined(*given: Partition) -> ConsumerMember:
    """A member that joined, was given these, reconciled and acknowledged them."""
    made = member()
    made.join()
    made.sent()
    state = made.take(1, given)
    assert state is not None
    made.become(state)
    target = made.begin_reconciliation()
    made.become(S.ACKNOWLEDGING)
    made.end_reconciliation(target)
    made.sent()
    after = made.after_beat()
    assert after is not None
    made.become(after)
    return made


@pytest.mark.parametrize("after", list(S))
@pytest.mark.parametrize("before", list(S))
def test_a_state_follows_only_its_predecessors(before: ClientState, after: ClientState) -> None:
    it = member(before)
    if before in after.predecessors:
        assert it.become(after) is before
        assert it.state is after
    else:
        with pytest.raises(BugError):
            it.become(after)
        assert it.state is before


@pytest.mark.parametrize(
    ("state", "beats", "at_once"),
    [
        (S.UNSUBSCRIBED, False, False),
        (S.JOINING, True, True),
        (S.RECONCILING, True, False),
        (S.ACKNOWLEDGING, True, True),
        (S.STABLE, True, False),
        (S.FENCED, False, False),
        (S.PREPARE_LEAVING, True, False),
        (S.LEAVING, True, True),
        (S.STALE, False, False),
        (S.FATAL, False, False),
    ],
)
def test_the_state_decides_whether_a_member_beats_and_whether_it_waits_for_the_interval(
    state: ClientState, beats: bool, at_once: bool
) -> None:
    assert (member(state).beats, member(state).beats_now) == (beats, at_once)


def test_an_empty_assignment_is_reconciled_too_when_a_member_joins() -> None:
    it = member()
    it.join()
    assert it.take(1, ()) is S.RECONCILING


def test_the_same_assignment_again_is_nothing_to_reconcile() -> None:
    it = joined(A)
    assert it.take(2, (A,)) is None
    assert it.epoch == 2
    assert it.owned_to_send() is None


def test_another_assignment_is_reconciled_and_then_acknowledged_with_the_whole_list() -> None:
    it = joined(A, B)
    assert it.take(2, (A,)) is S.RECONCILING
    it.become(S.RECONCILING)
    assert it.must_reconcile
    target = it.begin_reconciliation()
    assert not it.must_reconcile
    it.become(S.ACKNOWLEDGING)
    it.end_reconciliation(target)
    assert it.owned_to_send() == (A,)
    it.sent()
    assert it.after_beat() is S.STABLE


def test_news_that_come_while_it_reconciles_are_reconciled_after_the_acknowledgement() -> None:
    it = joined(A)
    it.become(S.RECONCILING)
    it.take(2, (A, B))
    first = it.begin_reconciliation()
    it.take(3, (A, B, C))
    it.become(S.ACKNOWLEDGING)
    it.end_reconciliation(first)
    it.sent()
    assert it.after_beat() is S.RECONCILING


def test_a_failed_beat_makes_the_next_one_tell_everything() -> None:
    it = joined(A)
    assert not it.sends_all
    it.failed()
    assert it.sends_all
    assert it.owned_to_send() == (A,)


def test_a_joining_member_owns_nothing_and_tells_everything() -> None:
    it = joined(A)
    it.fence()
    it.forget_assignment()
    it.join()
    assert (it.epoch, it.owned_to_send(), it.sends_all) == (0, (), True)


def test_a_member_that_joins_anew_gives_up_what_it_was_reconciling() -> None:
    it = joined(A)
    it.take(2, (A, B))
    it.become(S.RECONCILING)
    it.begin_reconciliation()
    it.fence()
    it.join()
    it.take(3, (C,))
    it.become(S.RECONCILING)
    assert it.must_abort()
    it.end_reconciliation(None)
    assert not it.must_abort()


@pytest.mark.parametrize(
    ("instance", "for_good", "epoch"),
    [(None, False, -1), (None, True, -1), ("i", False, -2), ("i", True, -1)],
)
def test_a_static_member_leaves_for_a_while_unless_it_means_it(
    instance: str | None, for_good: bool, epoch: int
) -> None:
    it = member(S.STABLE, instance)
    it.leave(False, for_good)
    assert (it.state, it.epoch, it.after_beat()) == (S.LEAVING, epoch, S.UNSUBSCRIBED)


def test_one_that_leaves_because_it_was_not_polled_is_stale_until_it_is() -> None:
    it = member(S.STABLE)
    it.leave(True)
    assert it.after_beat() is S.STALE


def test_answers_to_a_member_that_is_not_in_the_group_say_nothing() -> None:
    it = member(S.STALE)
    assert it.take(5, (A,)) is None
    assert it.epoch == 0
