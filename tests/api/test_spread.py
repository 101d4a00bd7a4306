"""One run of a consumer group is a sample: its metrics over seeds, and which of them chance
decides.
"""

from __future__ import annotations

import pytest

import rebalsim
from rebalsim import one_run
from rebalsim.analysis.judge import Measured
from rebalsim.check.one_story import spread_said
from rebalsim.domain.budget import Budget
from rebalsim.domain.errors import InputError
from rebalsim.domain.metrics import Selection
from rebalsim.domain.scenario import Scenario
from rebalsim.reports import chance_told
from rebalsim.scenario.load import load_scenario


def variant(name: str, start: str = "settled") -> Scenario:
    return load_scenario(
        "scale-out",
        [
            f"start={start}",
            "replay=[eager, cooperative, consumer]",
            "group.handler={per_record: 0ms, poll_timeout: 200ms}",
        ],
    ).scenario(name)


def test_only_the_consumer_protocol_is_sampled() -> None:
    assert [one_run.is_sampled(variant(name)) for name in ("eager", "cooperative", "consumer")] == [
        False,
        False,
        True,
    ]


def test_the_spread_is_that_of_single_runs() -> None:
    scenario = variant("consumer")
    over = one_run.spread(scenario, 4)
    alone = sorted(
        one_run.run_once(scenario, seed).analysis.summary["longest_pause"] for seed in over.seeds
    )
    assert over.seeds == [1, 2, 3, 4]
    assert over.known("longest_pause") == alone


def test_what_differs_between_seeds_is_called_chance_and_the_rest_rule() -> None:
    over = one_run.spread(variant("consumer"), 6)
    told = chance_told.said_of_chance(over, variant("consumer"))
    values = over.known("partition_seconds")
    assert values[0] != values[-1]
    assert "partition-seconds differ by chance" in told
    assert "partitions touched and rebalances are the same under every seed" in told


@pytest.mark.slow
def test_python_asks_for_a_metric_over_seeds() -> None:
    played = rebalsim.replay(
        "scale-out", ["replay=[consumer]", "group.handler={per_record: 0ms, poll_timeout: 200ms}"]
    )
    longest = played.spread("longest_pause")
    alone = sorted(
        one_run.run_once(variant("consumer"), seed).analysis.measure("longest_pause") or 0
        for seed in range(1, 21)
    )
    assert longest.seeds == 20 and list(longest.values) == alone
    assert longest.median == alone[9] and longest.worst == alone[-1]
    assert repr(longest).startswith(
        "<longest_pause over 20 seeds: median "
    ) and " s, worst " in repr(longest)
    assert played.spread("p99_pause", "consumer", seeds=2).seeds == 2
    with pytest.raises(InputError, match="There is no metric 'longest_puase'"):
        played.spread("longest_puase")


def test_what_is_nearly_the_same_under_all_seeds_is_not_called_chance() -> None:
    budget = Budget("longest_pause", "<=", 4e6, "longest_pause <= 4s")
    found = [Measured(value) for value in (5_300_000.0, 5_340_000.0, 5_350_000.0)]
    assert spread_said(budget, found) == "nearly the same under each of 3 seeds"
    assert spread_said(budget, [Measured(3_990_000.0), Measured(4_010_000.0)]).startswith(
        "by chance over 2 seeds: median 3.99 s"
    )


def test_whoever_comes_while_the_first_takes_its_partitions_belongs_to_the_groups_start() -> None:
    """Two consumers start together; which of them the coordinator hears first, and by how much,
    is chance and no rebalance.
    """
    for seed in range(1, 13):
        analysis = one_run.run_once(variant("consumer", "cold"), seed).analysis
        assert analysis.measure("rebalances") == 1
        assert analysis.measure("first_settle_time") > 5_000_000


def test_pauses_of_the_start_can_be_left_out_and_are_told_where_they_are_the_longest() -> None:
    scenario = variant("consumer", "cold")
    analysis = one_run.run_once(scenario, 3).analysis
    whole, settled = (
        analysis.measure("longest_pause", Selection(after_start=asked)) for asked in (False, True)
    )
    assert settled == max(p.length_us for p in analysis.pauses if p.started_us > 60_000_000) < whole
    over = one_run.spread(scenario, 6)
    assert over.settled[2] == settled
    assert "Once the group has settled, the longest is " in chance_told.said_of_start(over)
    assert "longest pause after the start" in chance_told.said_of_chance(over, scenario)
    assert chance_told.said_of_start(one_run.spread(variant("cooperative"), 2)) == ""
