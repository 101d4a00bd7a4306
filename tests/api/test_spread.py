"""One run of a consumer group is a sample: its metrics over seeds, and which of them chance decides."""

from __future__ import annotations

from rebalsim import one_run
from rebalsim.domain.scenario import Scenario
from rebalsim.scenario.load import load_scenario


def variant(name: str) -> Scenario:
    return load_scenario("scale-out", ["replay=[eager, cooperative, consumer]", "group.handler={per_record: 0ms, poll_timeout: 200ms}"]).scenario(name)


def test_only_the_consumer_protocol_is_sampled() -> None:
    assert [one_run.is_sampled(variant(name)) for name in ("eager", "cooperative", "consumer")] == [False, False, True]


def test_the_spread_is_that_of_single_runs() -> None:
    scenario = variant("consumer")
    over = one_run.spread(scenario, 4)
    alone = sorted(one_run.run_once(scenario, seed).analysis.summary["longest_pause"] for seed in over.seeds)
    assert over.seeds == [1, 2, 3, 4]
    assert over.known("longest_pause") == alone


def test_what_differs_between_seeds_is_called_chance_and_the_rest_rule() -> None:
    over = one_run.spread(variant("consumer"), 6)
    told = one_run.said_of_chance(over, ("partition_seconds", "moved_partitions"))
    values = over.known("partition_seconds")
    assert values[0] != values[-1]
    assert "partition-seconds differ by chance" in told
    assert "moved partitions are the same under every seed" in told
