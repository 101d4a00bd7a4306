"""Where a consumer reads from, alone, on paper: committed offsets, their validation, resets."""

from __future__ import annotations

from typing import Any

import pytest
from paper import PaperConsumer, PaperFlow, result_of

from rebalsim.domain.ids import Partition
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.simulation.poll_failed import PollFailed
from rebalsim.simulation.positions import Positions
from rebalsim.simulation.shares import FETCHING, RESETTING, VALIDATING, Share

FIRST, SECOND_ONE = Partition("t", 0), Partition("t", 1)


def placing(*partitions: Partition, **config: Any) -> tuple[PaperConsumer, Positions, list[Share]]:
    """A consumer that was just given these; partition n is led by broker n."""
    consumer = PaperConsumer(**config)
    positions = Positions(consumer)  # type: ignore[arg-type]
    consumer.looked_up = positions.landed
    shares = [Share(p, PaperFlow(), p.number) for p in partitions]  # type: ignore[arg-type]
    consumer.feed.shares = {share.partition: share for share in shares}
    return consumer, positions, shares


def played(consumer: PaperConsumer, positions: Positions) -> bool:
    """One pass of poll(), and the answers of partition leaders after it."""
    is_all = positions.begin_update()
    known = is_all or result_of(consumer, positions.update())
    consumer.go_on(consumer.now + 10_000)
    return bool(known)


def places(consumer: PaperConsumer) -> list[tuple[int, int, str]]:
    found = [e for e in consumer.told if type(e).__name__ == "PositionFound"]
    return [(e.partition.number, e.offset, e.how) for e in found]


def test_it_goes_on_where_the_group_has_committed() -> None:
    consumer, positions, shares = placing(FIRST, SECOND_ONE)
    consumer.committed = {FIRST: 7, SECOND_ONE: 9}
    assert played(consumer, positions)
    assert places(consumer) == [(0, 7, "committed"), (1, 9, "committed")]
    assert [share.state for share in shares] == [FETCHING, FETCHING]
    assert len(consumer.of("OffsetFetch")) == 1  # one question for all of them
    assert positions.begin_update()


def test_a_position_is_validated_first_where_leaders_have_epochs() -> None:
    consumer, positions, (share,) = placing(FIRST)
    consumer.committed = {FIRST: 7}
    consumer.world.epochs = {"t"}
    assert not positions.begin_update()
    assert result_of(consumer, positions.update())
    assert share.state == VALIDATING
    consumer.go_on(consumer.now + 1_999)
    assert share.state == VALIDATING  # a millisecond there, one back
    consumer.go_on(consumer.now + 1)
    assert share.state == FETCHING
    assert share.offset == 7


@pytest.mark.parametrize(("policy", "offset"), [("earliest", 0), ("latest", 100)])
def test_where_nothing_is_committed_the_policy_decides(policy: str, offset: int) -> None:
    consumer, positions, (share,) = placing(FIRST, auto_offset_reset=policy)
    consumer.go_on(1_000_000)  # a hundred records, one every 10 ms
    assert played(consumer, positions)
    assert places(consumer) == [(0, offset, policy)]
    assert share.offset == share.fetched == offset


def test_without_a_policy_poll_throws() -> None:
    consumer, positions, _ = placing(FIRST, auto_offset_reset="none")
    assert not positions.begin_update()
    with pytest.raises(PollFailed, match="NoOffsetForPartitionException"):
        result_of(consumer, positions.update())


def test_each_leader_is_asked_once_and_one_that_cannot_be_reached_later() -> None:
    consumer, positions, shares = placing(FIRST, SECOND_ONE, auto_offset_reset="earliest")
    consumer.link(1).is_cut = True
    played(consumer, positions)
    assert [share.state for share in shares] == [FETCHING, RESETTING]
    consumer.link(1).is_cut = False
    assert positions.begin_update()
    result_of(consumer, positions.update())
    consumer.go_on(consumer.now + 10_000)
    assert [share.state for share in shares] == [FETCHING, FETCHING]


def test_a_partition_without_a_leader_waits() -> None:
    consumer, positions, (share,) = placing(FIRST, auto_offset_reset="earliest")
    share.broker = -1
    played(consumer, positions)
    assert share.state == RESETTING and share.call is None
    assert positions.is_missing


def test_what_was_taken_away_meanwhile_gets_no_position() -> None:
    consumer, positions, (share,) = placing(FIRST)
    consumer.committed = {FIRST: 7}
    consumer.answers = lambda call: None
    assert not positions.begin_update()
    steps = positions.update()
    next(steps)
    consumer.feed.shares = {}
    consumer.sent[0].answer(offsets=consumer.committed)
    result_of(consumer, steps)
    assert places(consumer) == [] and share.offset == 0


def test_a_broker_that_is_not_the_coordinator_is_left_and_asked_no_more() -> None:
    consumer, positions, _ = placing(FIRST)
    consumer.committed = {FIRST: 7}
    errors = [Error.NOT_COORDINATOR, Error.NONE]
    consumer.answers = lambda call: errors.pop(0)
    assert played(consumer, positions)
    assert [why for _, why in consumer.lost] == ["error response NOT_COORDINATOR"]
    first, second = consumer.of("OffsetFetch")
    assert second - first >= consumer.config.retry_backoff_us


def test_a_pass_whose_time_is_over_asks_and_the_next_one_takes_the_answer() -> None:
    consumer, positions, (share,) = placing(FIRST)
    consumer.committed = {FIRST: 7}
    consumer.answers = lambda call: None
    consumer.deadline_us = 0
    assert not positions.begin_update()
    assert result_of(consumer, positions.update()) is False
    consumer.sent[0].answer(offsets=consumer.committed)
    consumer.deadline_us = 1_000_000
    assert result_of(consumer, positions.update())
    assert len(consumer.of("OffsetFetch")) == 1
    assert share.offset == 7
