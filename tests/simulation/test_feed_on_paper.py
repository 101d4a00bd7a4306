"""What a consumer hands over, alone, on paper: batches out of what was fetched."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from paper import PaperConsumer, PaperFlow

from rebalsim.domain.ids import Partition
from rebalsim.simulation.feed import Feed
from rebalsim.simulation.shares import FETCHING, INITIAL, Fetched, Share

FIRST, OTHER = Partition("t", 0), Partition("t", 1)


def feeding(*counts: int, **config: Any) -> tuple[PaperConsumer, Feed]:
    """A consumer with so many records of each partition in its buffer, a second into the run."""
    consumer = PaperConsumer(**config)
    consumer.engine.run_to(1_000_000)
    feed = consumer.feed = Feed(consumer)  # type: ignore[arg-type]
    for number, count in enumerate(counts):
        share = Share(Partition("t", number), PaperFlow(), 0)  # type: ignore[arg-type]
        share.state = FETCHING
        feed.shares[share.partition] = share
        feed.buffer.append(Fetched(share, 0, count))
    return consumer, feed


def offsets(feed: Feed) -> list[int]:
    return [share.offset for share in feed.shares.values()]


def delivered(consumer: PaperConsumer) -> list[dict[Partition, tuple[int, int, int]]]:
    return [e.batch for e in consumer.told if type(e).__name__ == "RecordsDelivered"]


def test_a_batch_holds_what_came_first_up_to_max_poll_records() -> None:
    _consumer, feed = feeding(8, 8, max_poll_records=10)
    assert feed.collect() == 10
    assert offsets(feed) == [8, 2]
    assert [(entry.first, entry.count) for entry in feed.buffer] == [(2, 6)]
    assert feed.collect() == 6
    assert offsets(feed) == [8, 8]
    assert feed.collect() == 0


def test_the_first_batch_of_a_partition_is_told_with_its_age_and_the_next_is_not() -> None:
    consumer, feed = feeding(8, max_poll_records=5)
    feed.collect()
    feed.collect()
    # its first record came at 10 ms, and it is a second now
    assert delivered(consumer) == [{FIRST: (0, 4, 990_000)}]


def test_after_a_silence_it_is_told_again() -> None:
    consumer, feed = feeding(8, max_poll_records=5)
    feed.collect()
    feed.renew()
    feed.collect()
    assert delivered(consumer) == [{FIRST: (0, 4, 990_000)}, {FIRST: (5, 7, 940_000)}]


def test_on_the_wire_every_batch_is_told() -> None:
    consumer, feed = feeding(8, max_poll_records=5)
    consumer.world.is_wire = True
    feed.collect()
    feed.collect()
    assert len(delivered(consumer)) == 2


def test_while_a_revocation_is_pending_nothing_is_handed_over() -> None:
    _consumer, feed = feeding(8)
    feed.is_suspended = True
    assert feed.collect() == 0
    assert offsets(feed) == [0] and len(feed.buffer) == 1


def test_one_that_falls_behind_another_is_told_to_lag() -> None:
    consumer, feed = feeding(20, 8, max_poll_records=10)
    feed.collect()
    lags = {e.partition: e.records for e in consumer.told if type(e).__name__ == "LagMarked"}
    assert lags == {FIRST: 100, OTHER: 100}  # both, as they stood: a hundred records had come
    assert feed.is_behind


def test_a_handler_takes_its_time_for_each_record_and_each_batch() -> None:
    consumer, feed = feeding(8)
    assert feed.handling_us(10) == 10 * 1_000 + 5_000
    consumer.slowness = 2.0
    assert feed.handling_us(10) == 2 * (10 * 1_000 + 5_000)


def test_only_what_has_a_position_is_committed() -> None:
    _consumer, feed = feeding(8, 8)
    feed.shares[OTHER].state = INITIAL
    feed.collect()
    assert feed.consumed() == {FIRST: 8}


def test_a_record_whose_handling_throws_ends_the_batch_and_is_fetched_again() -> None:
    consumer, feed = feeding(8, 8)
    consumer.world.poisons = SimpleNamespace(
        by_partition={FIRST: ()},
        throws_at=lambda partition, group, first, count: 3 if first <= 3 < first + count else None,
        hang_us=lambda partition, group, first, count: 0,
    )
    assert feed.collect() == 4  # with the one that throws
    assert [entry.share.partition for entry in feed.buffer] == [OTHER]
    feed.seek_to_failed()
    share = feed.shares[FIRST]
    assert share.offset == share.fetched == 3
    assert feed.failed is None


def test_one_that_was_taken_away_is_not_sought_back_to() -> None:
    _consumer, feed = feeding(8)
    share = feed.shares[FIRST]
    feed.collect()
    feed.failed = (share, 3)
    feed.shares.clear()
    feed.seek_to_failed()
    assert share.offset == 8
