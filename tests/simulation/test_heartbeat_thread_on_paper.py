"""A consumer's heartbeat thread alone, on paper: when it beats, when it looks, and what it does when a
timer runs out or an answer says no.
"""

from __future__ import annotations

from typing import Any

import pytest
from paper import SECOND, PaperConsumer

from rebalsim.protocol.classic_member import MemberState
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.simulation.heartbeat import HeartbeatThread

TICK_US = 100_000  # retry.backoff.ms: from one look to the next
INTERVAL_US = 3 * SECOND


def beating(**config: Any) -> tuple[PaperConsumer, HeartbeatThread]:
    """A consumer whose JoinGroup has just succeeded."""
    consumer = PaperConsumer(**config)
    thread = HeartbeatThread(consumer)  # type: ignore[arg-type]
    consumer.heartbeat = thread
    consumer.engine.begin(thread.heartbeat_thread())
    thread.enable()
    return consumer, thread


def test_it_beats_at_its_interval_while_the_application_sits_in_poll() -> None:
    consumer, _ = beating()
    consumer.go_on(10 * SECOND)
    assert consumer.of("Heartbeat") == [INTERVAL_US, 2 * INTERVAL_US, 3 * INTERVAL_US]
    assert consumer.told == []


def test_beside_a_busy_application_it_sees_only_at_its_next_look_that_a_beat_is_due() -> None:
    consumer, _ = beating(heartbeat_interval_us=1_030_000)
    consumer.is_polling = False
    consumer.go_on(4 * SECOND)
    assert consumer.of("Heartbeat") == [1_100_000, 2_200_000, 3_300_000]


def test_it_leaves_when_the_application_stays_away_for_too_long() -> None:
    consumer, thread = beating(max_poll_interval_us=20 * SECOND)
    consumer.is_polling = False
    consumer.go_on(60 * SECOND)
    assert consumer.left == [(20 * SECOND, "consumer poll timeout has expired.")]
    assert consumer.kinds() == ["PollExpired"]
    assert consumer.of("Heartbeat")[-1] < 20 * SECOND
    assert not thread.is_enabled


def test_a_poll_in_time_puts_that_off() -> None:
    consumer, thread = beating(max_poll_interval_us=20 * SECOND)
    consumer.is_polling = False
    consumer.go_on(19 * SECOND)
    thread.timers.polled_us = consumer.now
    consumer.go_on(38 * SECOND)
    assert consumer.left == []
    consumer.go_on(40 * SECOND)
    assert len(consumer.left) == 1


def test_who_sits_in_poll_outlasts_no_poll_interval() -> None:
    consumer, _ = beating(max_poll_interval_us=20 * SECOND)
    consumer.go_on(60 * SECOND)
    assert consumer.left == []


def test_without_answers_the_coordinator_is_lost_when_the_session_is_over() -> None:
    consumer, _ = beating(session_timeout_us=9 * SECOND)
    consumer.answers = lambda call: None
    consumer.go_on(9 * SECOND - 1)
    assert consumer.lost == []
    consumer.go_on(10 * SECOND)
    assert consumer.lost == [
        (9 * SECOND, "session timed out without receiving a heartbeat response")
    ]
    assert consumer.look_ups >= 1  # and it looks for another one itself


def test_each_answer_puts_the_end_of_the_session_off() -> None:
    consumer, _ = beating(session_timeout_us=9 * SECOND)
    consumer.answers = lambda call: Error.NONE if call.sent_us <= 6 * SECOND else None
    consumer.go_on(15 * SECOND - 1)
    assert consumer.lost == []
    consumer.go_on(16 * SECOND)
    assert [at for at, _ in consumer.lost] == [15 * SECOND]


def test_a_rebalance_is_told_once_and_the_beats_go_on() -> None:
    consumer, _ = beating()
    consumer.answers = lambda call: Error.REBALANCE_IN_PROGRESS
    consumer.go_on(10 * SECOND)
    assert consumer.kinds() == ["RebalanceNoticed", "RejoinRequested"]
    assert [event.at_us for event in consumer.told] == [INTERVAL_US, INTERVAL_US]
    assert len(consumer.of("Heartbeat")) == 3
    assert consumer.member.needs_rejoin


def test_one_that_the_group_no_longer_knows_forgets_its_generation_and_stops() -> None:
    consumer, thread = beating()
    consumer.answers = lambda call: Error.UNKNOWN_MEMBER_ID
    consumer.go_on(10 * SECOND)
    assert consumer.kinds() == ["MemberReset"]
    assert consumer.of("Heartbeat") == [INTERVAL_US]
    assert not consumer.member.has_joined() and not thread.is_enabled


def test_one_whose_static_id_another_holds_is_fenced_for_good() -> None:
    consumer, thread = beating()
    consumer.member.instance_id = "i"
    consumer.answers = lambda call: Error.FENCED_INSTANCE_ID
    consumer.go_on(10 * SECOND)
    assert "Fenced" in consumer.kinds()
    assert thread.failure is Error.FENCED_INSTANCE_ID
    assert consumer.of("Heartbeat") == [INTERVAL_US]


@pytest.mark.parametrize("error", [Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE])
def test_a_broker_that_is_not_the_coordinator_is_left_and_another_looked_for(error: Error) -> None:
    consumer, _ = beating()
    consumer.answers = lambda call: error
    consumer.go_on(INTERVAL_US)
    assert consumer.lost == [(INTERVAL_US, f"error response {error.name}")]
    consumer.go_on(INTERVAL_US + 2 * TICK_US)
    assert consumer.look_ups >= 1
    assert consumer.of("Heartbeat") == [INTERVAL_US]


def test_a_look_up_begins_the_session_anew() -> None:
    consumer, thread = beating(session_timeout_us=9 * SECOND)
    consumer.answers = lambda call: None
    consumer.go_on(8 * SECOND)
    thread.coordinator_found(consumer.now)
    consumer.go_on(16 * SECOND)
    assert consumer.lost == []


def test_a_frozen_process_neither_beats_nor_leaves() -> None:
    consumer, _ = beating(max_poll_interval_us=5 * SECOND)
    consumer.is_frozen = True
    consumer.go_on(60 * SECOND)
    assert consumer.sent == [] and consumer.left == []


def test_while_the_assignor_runs_no_beat_leaves() -> None:
    consumer, thread = beating()
    consumer.blocked_until_us = 7 * SECOND
    thread.plan()
    consumer.go_on(7 * SECOND - 1)
    assert consumer.sent == []
    consumer.go_on(8 * SECOND)
    assert consumer.of("Heartbeat") == [7 * SECOND]


def test_who_joins_again_is_beaten_for_by_nobody() -> None:
    consumer, thread = beating()
    consumer.go_on(INTERVAL_US)
    consumer.member.state = MemberState.PREPARING
    thread.disable()
    consumer.go_on(10 * SECOND)
    assert consumer.of("Heartbeat") == [INTERVAL_US]
