"""Metrics on small traces, over everything and over selections; lag as a fluid; records twice
and skipped; Kafka's own count.
"""

from __future__ import annotations

import pytest
from builders import SECOND, trace

from rebalsim.analysis import Analysis, analyse
from rebalsim.domain.errors import BugError
from rebalsim.domain.ids import Partition
from rebalsim.domain.metrics import EVERYTHING, METRICS, Selection
from rebalsim.domain.percentiles import percentile
from rebalsim.trace import events as ev
from rebalsim.trace.trace import TopicFacts, Trace
from rebalsim.words.nearest import nearest_metric

TWO = "c1+p0,p1,p2,p3@0 c1-p0,p1@5 c2+p0@6 c2+p1@9 c1!@20 c3+p2@30 c3+p3@35"


def test_the_numbers_of_pauses() -> None:
    a = analyse(trace(TWO))
    assert [
        a.measure(m)
        for m in (
            "longest_pause",
            "pauses",
            "partitions_touched",
            "partition_seconds",
            "open_pauses",
        )
    ] == [15 * SECOND, 4, 4, (1 + 4 + 10 + 15) * SECOND, 0]
    assert [a.measure(f"p{p}_pause") for p in (50, 95, 99)] == [
        4 * SECOND,
        15 * SECOND,
        15 * SECOND,
    ]
    assert a.measure("p50_partition_pause") == 4 * SECOND


def test_partitions_that_never_stood_still_count_too() -> None:
    a = analyse(trace("c1+p0,p1,p2,p3@0 c1-p0@5 c2+p0@9"))
    assert a.measure("p50_pause") == 4 * SECOND
    assert a.measure("p50_partition_pause") == 0
    assert a.measure("p99_partition_pause") == 4 * SECOND


@pytest.mark.parametrize(
    ("selection", "count", "longest"),
    [
        (EVERYTHING, 4, 15),
        (Selection(members=("c2",)), 2, 4),
        (Selection(members=("c3",)), 2, 15),
        (Selection(topics=("u",)), 0, 0),
        (Selection(until_us=10 * SECOND), 2, 4),
        (Selection(from_us=8 * SECOND), 3, 15),
        (Selection(from_us=9 * SECOND, until_us=20 * SECOND), 0, 0),
        (Selection(group="elsewhere"), 0, 0),
    ],
)
def test_selections(selection: Selection, count: int, longest: int) -> None:
    a = analyse(trace(TWO))
    assert (a.measure("pauses", selection), a.measure("longest_pause", selection)) == (
        count,
        longest * SECOND,
    )


def test_sums_are_clipped_to_the_window() -> None:
    a = analyse(trace(TWO))
    assert (
        a.measure("partition_seconds", Selection(from_us=25 * SECOND, until_us=32 * SECOND))
        == (5 + 7) * SECOND
    )


def test_an_action_is_blamed_for_what_it_set_off() -> None:
    told = trace("c1+p0@0 c2+p1@0 c1!@5 c3+p0@9 c2!@20 c3+p1@21")
    told.events.insert(6, ev.ScriptActed(4 * SECOND, "crash-1", "Crash", "crash c1", ("c1",)))
    told.events.sort(key=lambda e: e.at_us)
    a = analyse(told)
    assert [p.cause.action for p in a.pauses] == ["crash-1", ""]
    assert a.measure("longest_pause", Selection(action="crash-1")) == 4 * SECOND


def test_every_metric_has_a_meaning_and_is_measured() -> None:
    a = analyse(trace(TWO))
    for metric in METRICS.values():
        assert metric.meaning and metric.name.isidentifier()
        value = a.measure(metric.name)
        assert value is None or value >= 0
        assert a.measure(metric.name, Selection(topics=("t",))) == value or metric.name in (
            "first_settle_time",
        )
    with pytest.raises(BugError):
        a.measure("longest_gap")
    assert nearest_metric("longest-pauses") == "longest_pause"
    assert nearest_metric("p95.pause") == "p95_pause"


@pytest.mark.parametrize(
    ("percent", "value"), [(0, 1), (1, 1), (20, 1), (20.1, 2), (50, 3), (99, 5), (100, 5)]
)
def test_percentiles_are_by_nearest_rank(percent: float, value: int) -> None:
    assert percentile([1, 2, 3, 4, 5], percent) == value
    assert percentile([], percent) is None


# ---------------------------------------------------------------------------------------------- lag


def with_lag(*corners: tuple[float, int, int]) -> Analysis:
    """(second, partition, records); 10 records a second and partition."""
    told = trace("c1+p0,p1@0 c1-p0@10 c2+p0@20", until=60)
    told.events += [
        ev.LagMarked(round(at * SECOND), Partition("t", p), "group", n) for at, p, n in corners
    ]
    told.events.sort(key=lambda e: e.at_us)
    return analyse(told)


def test_lag_runs_straight_between_its_corners() -> None:
    a = with_lag((0, 0, 0), (10, 0, 0), (20, 0, 100), (25, 0, 0), (0, 1, 4), (60, 1, 4))
    assert (a.measure("lag_peak"), a.measure("lag_peak_partition"), a.measure("lag_at_end")) == (
        104,
        100,
        4,
    )
    p0 = Partition("t", 0)
    assert [a.lag_book.at("group", p0, t * SECOND) for t in (5, 15, 20, 22, 30)] == [
        0,
        50,
        100,
        60,
        0,
    ]
    curve = a.lag[0]
    assert (curve.peak, curve.peak_us) == (100, 20 * SECOND)
    assert a.measure("time_to_catch_up") == round(
        4.5 * SECOND
    )  # until a second's arrivals, 10 records, are left
    assert a.measure("lag_peak", Selection(topics=("u",))) is None


def test_lag_that_is_not_caught_up_counts_so_far() -> None:
    a = with_lag((0, 0, 0), (10, 0, 0), (20, 0, 100), (60, 0, 100))
    assert a.measure("time_to_catch_up") == 40 * SECOND
    assert a.lag[0].caught_up_us == -1


def test_the_age_of_records_is_how_long_they_waited() -> None:
    """Ten seconds without handling, then all at once: the oldest waited ten seconds, half of
    what piled up more than five.
    """
    a = with_lag((0, 0, 0), (10, 0, 0), (20, 0, 100), (20.001, 0, 0), (60, 0, 0))
    assert a.measure("record_age_max") == pytest.approx(10 * SECOND, abs=0.01 * SECOND)
    assert 8 * SECOND <= (a.measure("record_age_p99") or 0) <= 10 * SECOND


def test_unknown_rates_make_lag_unknown() -> None:
    a = analyse(trace(TWO, rate=None))
    assert [
        a.measure(m)
        for m in ("lag_peak", "time_to_catch_up", "record_age_max", "duplicates", "skipped")
    ] == [None] * 5


def test_ramps_arrive_as_an_integral() -> None:
    from rebalsim.analysis.arrivals import Arrivals

    facts = TopicFacts(
        2,
        (
            (0, 20.0, False),
            (10 * SECOND, 20.0, False),
            (20 * SECOND, 40.0, True),
            (30 * SECOND, 0.0, False),
        ),
        (1.0, 3.0),
    )
    a = Arrivals(facts, Partition("t", 1))  # three quarters of the topic
    assert [round(a.count(t * SECOND), 6) for t in (-1, 0, 10, 20, 25, 30, 99)] == [
        0,
        0,
        150,
        375,
        525,
        675,
        675,
    ]
    for count in (1, 150, 200, 375, 600, 675):
        assert a.count(a.instant(count, 99 * SECOND)) == pytest.approx(count)
    assert a.instant(676, 50 * SECOND) == 50 * SECOND


def test_a_group_that_never_got_an_assignment_is_unsettled() -> None:
    """Both wait for a leader that computes for ever: no partition was ever held, so none stood
    still; yet nothing is well.
    """
    a = analyse(
        trace(
            "c1(@0 c2(@0 g{joined.c1@1 c1j@1 c2j@1 g|1.c2@4 c1=1@4 c2=1@4 g{joined.c2@34 c2j@34 "
            "c1j@44 g|2.c1@44 c1=2@44 c2=2@44",
            until=60,
        )
    )
    assert (a.measure("longest_pause"), a.measure("unsettled")) == (0, 1)


# ------------------------------------------------------------------------------------------ records


def positions(*found: tuple[float, str, int, int, str]) -> Trace:
    told = trace("c1+p0@0 c1!@10 c2+p0@20 t+2@30 c2+p1@40", until=60)
    told.events += [
        ev.PositionFound(
            round(at * SECOND),
            "c1" if at < 10 else "c2",
            Partition("t", int(p)),
            offset,
            how,
            handled,
        )
        for at, p, offset, handled, how in found
    ]
    told.events.sort(key=lambda e: e.at_us)
    return told


def test_records_twice_and_skipped() -> None:
    a = analyse(
        positions(
            (0, "0", 300, 0, "latest"), (20, "0", 380, 400, "committed"), (40, "1", 25, 0, "latest")
        )
    )
    assert [(str(r.partition), r.records, r.is_skip) for r in a.redeliveries] == [
        ("t-0", 20, False),
        ("t-1", 25, True),
    ]
    assert (a.measure("duplicates"), a.measure("skipped")) == (
        20,
        25,
    )  # where the group began by latest is its own choice


def test_what_arrived_on_a_new_partition_before_anybody_read_it_is_skipped() -> None:
    """Nobody had handled any of it, and `latest` begins behind it: nobody ever will."""
    a = analyse(positions((0, "0", 300, -1, "latest"), (40, "1", 25, -1, "latest")))
    assert [(str(r.partition), r.records, r.is_skip) for r in a.redeliveries] == [("t-1", 25, True)]


# -------------------------------------------------------------------------------- Kafka's own count


def test_client_metrics_count_as_kafka_does() -> None:
    told = trace(
        "c1(@0 c1j@1 g{joined.c1@1 g|1.c1@4 c1=1@4 g}1@5 c1:1@5 c1<p0@5 c1>@6 c1*p0@6 "
        "c2j@10 g{joined.c2@10 c1?@11 c1-p0@11 c1j@11 g|2.c1@12 c1=2@12 g}2@13 c1:2@13 c1+p0@13"
    )
    told.events.insert(
        4,
        ev.ResponseReceived(
            told.events[3].at_us, "c1", "JoinGroup", 0, "MEMBER_ID_REQUIRED", sent_at_us=1
        ),
    )
    values = analyse(told).client_metrics["c1"]
    assert (
        values["rebalance-total"],
        values["failed-rebalance-total"],
        values["assigned-partitions"],
    ) == (2, 1, 1)
    assert (
        values["rebalance-latency-max"],
        values["rebalance-latency-avg"],
        values["rebalance-latency-total"],
    ) == (4 * SECOND, 3 * SECOND, 6 * SECOND)
    assert (
        values["join-time-max"],
        values["partition-assigned-latency-max"],
        values["partition-lost-latency-max"],
    ) == (3 * SECOND, SECOND, None)
    assert values["last-rebalance-seconds-ago"] == 87 * SECOND


def test_a_formation_is_no_rebalance_and_rates_begin_after_it() -> None:
    text = "c1j@1 g{joined.c1@1 g|1.c1@4 c1=1@4 g}1@5 c1:1@5 c1+p0@5 "
    a = analyse(
        trace(text + "g{joined.c2@50 g|2.c2@51 g}2@52 g{left.c2@60 g|3.c1@61 g}3@62", until=105)
    )
    assert (
        a.measure("rebalances"),
        a.measure("generations"),
        a.measure("disturbances"),
        a.measure("first_settle_time"),
    ) == (2, 3, 2, 4 * SECOND)
    assert a.measure("rebalances_per_hour") == 2 * 36
    assert a.measure("rebalancing_share") == pytest.approx(4 / 100)
    assert a.measure("rebalances", Selection(from_us=55 * SECOND)) == 1
    shares = a.state_shares["group"]
    assert sum(shares.values()) == pytest.approx(1)


def test_the_usual_alert_wants_more_than_five_in_an_hour() -> None:
    one = "g{{joined.c2@{0} g|{1}.c2@{0} g}}{1}@{0}"
    birth = "c1j@1 g{joined.c1@1 g|1.c1@4 c1=1@4 g}1@5 c1:1@5 c1+p0@5 "
    for count, alert in ((5, False), (6, True)):
        text = birth + " ".join(one.format(100 * n, n + 1) for n in range(1, count + 1))
        assert analyse(trace(text, until=3_600)).rebalances_too_often is alert
