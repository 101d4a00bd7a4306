"""A recommendation in sentences: the change, what it brings, what it costs elsewhere."""

from __future__ import annotations

from types import SimpleNamespace

from test_sweep_reports import answer, point

from rebalsim.domain.answer import BudgetSaid
from rebalsim.domain.client import ClientConfig
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.scenario import Group, Scenario
from rebalsim.reports.recommendation import render_recommendation
from rebalsim.reports.search_told import _played
from rebalsim.spark.recommend import Choice, Expelled, Turn

STORY = Scenario(
    groups=(Group("g", tuple(Consumer(f"c{i}", "g", config=ClientConfig()) for i in range(6))),)
)
BROKEN = (BudgetSaid("longest_pause <= 5s", "longest_pause", "fail", 42.2e6, 5e6, 0.0, 1),)


def told(*found: Choice, expelled: tuple[Expelled, ...] = ()) -> str:
    return "\n".join(
        render_recommendation(
            answer(), point(4, "eager"), BROKEN, found, point(2, "eager"), STORY, expelled
        )
    )


def test_the_smallest_change_first_and_what_it_costs() -> None:
    shorter = Choice(
        point(0, "eager"),
        (
            Turn("session.timeout.ms", "45s", "10s", 2.17),
            Turn("heartbeat.interval.ms", "3s", "1s", 1.58),
        ),
    )
    other = Choice(point(2, "cooperative"), (Turn("variant", "eager", "cooperative", 0.0),))
    text = told(shorter, other, expelled=(Expelled("freeze", "10m", "1s..8s", 0.0, 15.5),))
    assert "  ✗ longest_pause <= 5s: 42.2 s" in text
    assert "The smallest change that meets all budgets touches 2 settings:" in text
    assert (
        "  ~ session.timeout.ms     45s → 10s" in text
        and "  ~ heartbeat.interval.ms  3s → 1s" in text
    )
    assert "or: variant eager → cooperative; then longest_pause 3.00 s" in text
    assert (
        "expels a healthy member whose GC pause or network cut lasts 9.00 s to 10.0 s (before: "
        "42.0 s to 45.0 s)" in text
    )
    assert (
        "with GC pauses of 1s..8s about every 10m per member: 15.5 healthy members expelled a "
        "day (before: 0.0)" in text
    )
    assert "heartbeats at the coordinator: 6.0 a second instead of 2.0" in text


def test_without_rates_it_asks_for_them() -> None:
    assert "--gc-pauses 10m:1s..8s" in told(
        Choice(point(0, "eager"), (Turn("session.timeout.ms", "45s", "10s", 2.17),))
    )


def test_nothing_helps_and_nothing_is_needed() -> None:
    text = told()
    assert (
        "Nothing among the usual values meets all budgets." in text
        and "The nearest: session 10s, members 3, eager" in text
    )
    assert "Nothing need be changed" in told(Choice(point(0, "eager"), ()))


def test_every_kind_of_turn_has_its_price() -> None:
    turns = (
        Turn("max.poll.interval.ms", "5m", "30s", 3.3),
        Turn("max.poll.records", "500", "50", 3.3),
        Turn("members", "6", "12", 1.0),
        Turn("variant", "eager", "cooperative", 0.0),
    )
    text = told(Choice(point(0, "eager"), turns))
    assert (
        "a batch of 50 records must be handled within 30s" in text
        and "batches of 50 instead of 500" in text
    )
    assert "12 members instead of 6" in text and "is a migration" in text


def test_what_the_brokers_decide_is_said_to_be_every_groups() -> None:
    turns = (
        Turn("group.consumer.heartbeat.interval.ms", "5s", "2s", 1.3),
        Turn("group.consumer.session.timeout.ms", "45s", "1m", 0.4),
        Turn("group.consumer.assignment.interval.ms", "1s", "0s", 0.0),
    )
    text = told(Choice(point(0, "eager"), turns))
    assert (
        "group.consumer.heartbeat.interval.ms is the brokers', for every group or, by "
        "kafka-configs, for this one; "
        "group.consumer.min.heartbeat.interval.ms has to be lowered on all of them first"
    ) in text
    assert "heartbeats at the coordinator: 3.0 a second instead of 1.2" in text
    assert (
        "group.consumer.session.timeout.ms is the brokers', for every group or, by "
        "kafka-configs, for this one\n" in text
    )
    assert (
        "a session of 1m keeps a healthy member whose GC pause or network cut lasts 45.0 s to 1 m"
        in text
    )
    assert "a target is worked out more often" in text


def test_a_search_that_was_cut_short_says_of_which_variants_nothing_is_known() -> None:
    """One of these may be the smaller change, which `run` tells and this does not."""
    eager, consumer = (SimpleNamespace(variant=name) for name in ("eager", "consumer"))
    found = SimpleNamespace(
        as_it_is=[eager, consumer],
        choices=[SimpleNamespace(tried=eager)],
        all_tried=[eager, consumer, eager],
        events=800_100,
        is_spent=True,
        is_settled=False,
        seeds=20,
        seeds_to_keep=19,
    )
    assert "so that no change of consumer was held over all seeds" in _played(found)
    found.choices = []
    assert "before all was tried: --events N plays more" in _played(found)
