"""When a partition stands still, and when it does not: traces of three to eight events with the
pauses they contain.
"""

from __future__ import annotations

import pytest
from builders import seconds, trace

from rebalsim.analysis import analyse
from rebalsim.trace import events as ev


def pauses(text: str, **facts: object) -> list[tuple[str, str, float, float, bool]]:
    """(partition, why, from, until, is open) of every pause, in seconds."""
    found = analyse(trace(text, **facts)).pauses  # type: ignore[arg-type]
    return [
        (f"p{p.partition.number}", p.why, seconds(p.started_us), seconds(p.ended_us), p.is_open)
        for p in found
    ]


def test_handed_from_one_to_the_other() -> None:
    assert pauses("c1+p0@0 c1-p0@5 c2+p0@9") == [("p0", "revoked", 5, 9, False)]


def test_records_end_a_pause_not_the_callback() -> None:
    assert pauses("c1+p0@0 c1-p0@5 c2<p0@7 c2>@8 c2*p0@9") == [("p0", "revoked", 5, 9, False)]


def test_the_first_owner_ends_no_pause() -> None:
    assert pauses("c1<p0@3 c1>@3 c1*p0@4") == []


@pytest.mark.parametrize(
    ("how", "why"), [("c1!@5", "killed"), ("c1~@5", "froze"), ("c1x@5 c1-p0@5.5 c1)@5.6", "closed")]
)
def test_an_owner_that_was_to_be_the_first_may_be_stopped_too(how: str, why: str) -> None:
    """It was given the partition and never came to read it. Before that the group was starting
    up, which is no pause.
    """
    assert pauses(f"c1<p0@3 c1>@3 {how} c2+p0@9") == [("p0", why, 5, 9, False)]
    assert pauses(f"c1<p0@3 c1>@3 {how}", until=20) == [("p0", why, 5, 20, True)]


def test_who_goes_on_takes_its_partitions_up_together() -> None:
    """Its first batch has records of p0 only. That p1's come with the next one is the way of
    batches, and no pause.
    """
    assert pauses("c1+p0,p1@0 c1#@5 c1.@8 c1*p0@8.1 c1*p1@10") == [
        ("p0", "stuck", 5, 8.1, False),
        ("p1", "stuck", 5, 8.1, False),
    ]
    again = pauses("c1+p0,p1@0 c1#@5 c1.@8 c1*p0@8.1 c1#@9 c1.@12 c1*p1@12.1 c1*p0@14")
    assert again == [
        ("p0", "stuck", 5, 8.1, False),
        ("p1", "stuck", 5, 8.1, False),
        ("p0", "stuck", 9, 12.1, False),
        ("p1", "stuck", 9, 12.1, False),
    ]


def test_a_last_batch_of_one_that_is_out_serves_no_other_partition() -> None:
    assert pauses("c1+p0,p1@0 c1#@5 c1.@8 c1*p0@8.1 c1/p0,p1@8.2 c2+p0,p1@9") == [
        ("p0", "stuck", 5, 8.1, False),
        ("p1", "stuck", 5, 9, False),
        ("p0", "lost", 8.2, 9, False),
    ]


def test_what_a_forming_group_hands_on_unread_stands_still_for_nobody() -> None:
    assert pauses("c1<p0@3 c1>@3 c1-p0@5 c2+p0@9") == []


@pytest.mark.parametrize("rate", [None, 0.0])
def test_a_partition_that_may_have_no_records_is_not_missed_unread(rate: float | None) -> None:
    assert pauses("c1<p0@3 c1>@3 c1!@5", rate=rate) == []


def test_an_error_that_closes_the_consumer_is_the_cause() -> None:
    told = trace("c1<p0@3 c1>@3 c1x@5 c1l@5 c1)@5.1")
    told.events[-1].how, told.events[-1].error = "fatal", "NoOffsetForPartitionException"
    assert [(p.why, p.cause.kind, p.cause.consumer) for p in analyse(told).pauses] == [
        ("closed", "fatal", "c1")
    ]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("c1!@5", "killed"),
        ("c1~@5", "froze"),
        ("c1#@5", "stuck"),
        ("c1x@5 c1-p0@5.5 c1)@5.6", "closed"),
    ],
)
def test_what_stops_an_owner(how: str, why: str) -> None:
    assert pauses(f"c1+p0@0 {how} c2+p0@9") == [("p0", why, 5, 9, False)]


def test_all_that_an_owner_holds_stands_still_with_it() -> None:
    assert pauses("c1+p0,p1@0 c1!@5 c2+p1@8 c2+p0@9") == [
        ("p0", "killed", 5, 9, False),
        ("p1", "killed", 5, 8, False),
    ]


@pytest.mark.parametrize(("halt", "back", "why"), [("~", "^", "froze"), ("#", ".", "stuck")])
def test_the_same_owner_goes_on(halt: str, back: str, why: str) -> None:
    found = analyse(trace(f"c1+p0@0 c1{halt}@5 c1{back}@8 c1*p0@8.25")).pauses
    assert [(p.why, seconds(p.started_us), seconds(p.ended_us), p.owner_after) for p in found] == [
        (why, 5, 8.25, "c1")
    ]
    assert found[0].assigned_event == -1


def test_a_pause_that_has_not_ended_is_open() -> None:
    assert pauses("c1+p0@0 c1!@5", until=20) == [("p0", "killed", 5, 20, True)]


def test_nothing_after_the_horizon_counts() -> None:
    found = analyse(trace("c1+p0@0 c1-p0@5 c2+p0@9"), until=7_000_000).pauses
    assert [(seconds(p.started_us), seconds(p.ended_us), p.is_open) for p in found] == [
        (5, 7, True)
    ]


def test_the_commit_before_a_revocation_belongs_to_it() -> None:
    assert pauses("c1+p0@0 c1=1@0 c1?@4 c1w@4.5 c1[p0@5 c1]@5 c2+p0@9") == [
        ("p0", "revoked", 4.5, 9, False)
    ]


def test_a_commit_that_the_application_makes_itself_stops_nothing() -> None:
    assert pauses("c1+p0@0 c1=1@0 c1?@4 c1w@4.5 c1[p0@5 c1]@5 c2+p0@9", auto_commit=False) == [
        ("p0", "revoked", 5, 9, False)
    ]


def test_a_cooperative_revocation_begins_with_its_callback() -> None:
    assert pauses(
        "c1+p0@0 c1=1@0 c1?@3 c1w@3.5 c1j@3.6 c1=2@4 c1[p0@5 c1]@5 c2+p0@9", protocol="cooperative"
    ) == [("p0", "revoked", 5, 9, False)]


def test_an_owner_in_between_that_never_got_records_ends_nothing() -> None:
    text = "c1+p0@0 c1-p0@5 c2<p0@6 c2>@6 c2-p0@7 c3+p0@9"
    assert pauses(text) == [("p0", "revoked", 5, 9, False)]
    assert len(analyse(trace(text)).pauses[0].path) == 3


def test_a_fenced_owner_that_still_consumes_is_no_pause() -> None:
    """c1 was cut off from its coordinator only: it goes on until c2 has taken over, and what it
    then loses nobody misses.
    """
    assert pauses("c1+p0@0 c2+p0@9 c1/p0@12") == []


def test_a_long_callback_holds_up_what_is_kept_and_a_short_one_does_not() -> None:
    assert pauses("c1+p0,p1@0 c1[p1@5 c1]@5.05 c2+p1@6") == [("p1", "revoked", 5, 6, False)]
    assert pauses("c1+p0,p1@0 c1[p1@5 c1]@5.5 c2+p1@6") == [
        ("p0", "callback", 5, 5.5, False),
        ("p1", "revoked", 5, 6, False),
    ]


def test_new_partitions_stand_still_until_somebody_has_them() -> None:
    assert pauses("c1+p0@0 t+2@5 c1+p1@9") == [("p1", "grown", 5, 9, False)]


def test_max_poll_interval_counts_from_when_it_ran_out() -> None:
    told = trace("c1+p0@0 c2+p0@320", until=400)
    told.events.insert(3, ev.PollExpired(300_050_000, "c1", last_poll_us=0))
    assert [(p.why, seconds(p.started_us), seconds(p.ended_us)) for p in analyse(told).pauses] == [
        ("poll-expired", 300, 320)
    ]


def test_a_late_producer_is_not_the_groups_fault() -> None:
    """The new owner was ready at 6; the record that it got at 9 had only just been written."""
    told = trace("c1+p0@0 c1-p0@5 c2<p0@6 c2>@6 c2*p0@9")
    told.events.insert(
        -1,
        ev.PositionFound(
            6_000_000, "c2", told.events[-1].batch.keys().__iter__().__next__(), 5, "committed"
        ),
    )
    delivered = told.events[-1]
    for age, ended in ((2_900_000, 9.0), (10_000, 6.0)):
        delivered.batch = dict.fromkeys(delivered.batch, (5, 5, age))
        assert [seconds(p.ended_us) for p in analyse(told).pauses] == [ended]


def test_logs_end_a_pause_when_the_listener_has_its_partitions() -> None:
    told = trace("c1<p0@0 c1>@0 c1-p0@5 c2<p0@7 c2>@8", source="logs")
    assert [seconds(p.ended_us) for p in analyse(told).pauses] == [8]
    told.events.append(
        ev.PositionFound(8_500_000, "c2", told.events[0].partitions[0], 5, "committed")
    )
    assert [seconds(p.ended_us) for p in analyse(told).pauses] == [8]
