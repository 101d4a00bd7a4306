"""One run end to end: a resolved scenario and a seed in, the trace and what it means out. Read
this first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rebalsim.domain.instants import say_duration
from rebalsim.domain.metrics import percentile
from rebalsim.domain.phase import shift_of
from rebalsim.domain.scenario import Scenario, everybody_in, has_draws
from rebalsim.simulation.world import play
from rebalsim.trace.trace import Trace

if TYPE_CHECKING:
    from rebalsim.analysis.over_seeds import OverSeeds

SPREAD_SEEDS = 20  # over so many a group is told that chance decides …
NEARLY = 0.02  # values over seeds closer than this share are told as nearly the same
SPREAD_SEEDS_OF_MANY = (
    5  # … and over so many one of more than fifty members, each run of which takes seconds
)


@dataclass(slots=True)
class Run:
    """What happened, and what it means."""

    trace: Trace
    analysis: Any


def run_once(scenario: Scenario, seed: int | None = None, *, wire: bool = False) -> Run:
    """Play the scenario (one variant) with this seed, its own if None, and analyse the trace.
    `wire`: that of the whole wire.
    """
    from rebalsim.analysis import analyse  # here, so that playing alone does not load it

    trace = on_the_wire(scenario, seed) if wire else play(scenario, seed=seed)
    return Run(trace, analyse(trace))


def on_the_wire(scenario: Scenario, seed: int | None = None) -> Trace:
    """The same run with every request and answer told: heartbeats, commits and batches too."""
    return play(scenario, seed=seed, wire=True)


def is_sampled(scenario: Scenario) -> bool:
    """Is one run of it a sample rather than the answer? Under the consumer protocol member ids,
    which clients draw, and races of 100 ms decide.

    So is a story that only comes to it: whoever is deployed on the way counts. (Where between
    two heartbeats the script strikes is a chance under the classic protocol too, but one that
    the written times decide as well as any.)
    """
    return any(spec.config.group_protocol == "consumer" for spec in everybody_in(scenario))


def spread_seeds(scenario: Scenario) -> int:
    """Over how many seeds a story of this size is told."""
    return (
        SPREAD_SEEDS
        if sum(len(group.consumers) for group in scenario.groups) <= 50
        else SPREAD_SEEDS_OF_MANY
    )


def spread(scenario: Scenario, seeds: int | None = None) -> OverSeeds:
    """The metrics of so many runs, from the scenario's own seed on. What is the same in all of
    them is rule, the rest is chance.
    """
    from rebalsim.analysis.over_seeds import OverSeeds

    if seeds is None:
        seeds = spread_seeds(scenario)
    over = OverSeeds()
    for seed in range(scenario.seed, scenario.seed + seeds):
        over.add(seed, run_once(scenario, seed).analysis)
    return over


HEADLINES_OF_CHANCE = ("longest_pause", "partition_seconds", "partitions_touched", "rebalances")


def said_of_chance(
    over: OverSeeds, scenario: Scenario, metrics: tuple[str, ...] = HEADLINES_OF_CHANCE
) -> str:
    """Which of these metrics of the scenario chance decides, and what that chance is, as a
    sentence.
    """
    known = {metric: over.known(metric) for metric in metrics}
    names = {
        metric: metric.replace("partition_seconds", "partition-seconds").replace("_", " ")
        for metric in metrics
    }
    if "longest_pause" in known and _is_of_start(over):
        known["longest_pause"], names["longest_pause"] = (
            sorted(over.settled),
            "longest pause after the start",
        )
    same = [
        names[m]
        for m, values in known.items()
        if values and values[-1] - values[0] <= NEARLY * values[-1]
    ]
    varied = [
        names[m]
        for m, values in known.items()
        if values and values[-1] - values[0] > NEARLY * values[-1]
    ]
    nearly = (
        ""
        if all(values[0] == values[-1] for m, values in known.items() if names[m] in same)
        else "nearly "
    )
    parts = (
        [
            f"{_listed(varied)} {'differs' if _is_one(varied) else 'differ'} by chance "
            f"({chances_in(scenario)})"
        ]
        if varied
        else []
    )
    parts += (
        [f"{_listed(same)} {'is' if _is_one(same) else 'are'} {nearly}the same under every seed"]
        if same
        else []
    )
    return f"Over {len(over.seeds)} seeds {'; '.join(parts)}." if parts else ""


def chances_in(scenario: Scenario) -> str:
    """What differs from seed to seed."""
    found = [
        "member ids",
        *(["races of 100 ms"] if is_sampled(scenario) else []),
        *(["what the story draws"] if has_draws(scenario) else []),
    ]
    if scenario.shift_within_us:
        found.append(
            "where between two heartbeats the script strikes: up to "
            f"{say_duration(scenario.shift_within_us)} later than written"
        )
    return ", ".join(found)


def said_of_start(over: OverSeeds) -> str:
    """That the longest pause is of the group's start, where it is, and what the longest is from
    then on; else empty.
    """
    if not _is_of_start(over):
        return ""
    settled = sorted(over.settled)
    told = [
        say_duration(round(value)) if value else "0 s"
        for value in (percentile(settled, 50) or 0, percentile(settled, 95) or 0, settled[-1])
    ]
    spread = f" (p95 {told[1]}, max {told[2]})" if len(set(told)) > 1 else ""
    return (
        "The longest pause is that of the group's start, while members hand on to each other "
        "what the first of them was given. Under the classic "
        "protocol they would wait for each other before anybody has anything, which is time to "
        "begin and no pause. Once the group has settled, the "
        f"longest is {told[0]}{spread}."
    )


def _is_of_start(over: OverSeeds) -> bool:
    """In the middle of the seeds, is the longest pause one from before the group had settled?"""
    return (percentile(sorted(over.settled), 50) or 0) < (over.at("longest_pause", 50) or 0) * (
        1 - NEARLY
    )


def said_of_phase(scenario: Scenario, seed: int) -> str:
    """How much later than written this seed plays the script; empty if it plays it as written."""
    shift_us = shift_of(seed, scenario.shift_within_us)
    if not shift_us:
        return ""
    return (
        f"Seed {seed} plays the script {say_duration(shift_us)} later than written, so that it "
        "strikes elsewhere between two heartbeats than other seeds do."
    )


def _is_one(names: list[str]) -> bool:
    return len(names) == 1 and names[0].startswith("longest pause")


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
