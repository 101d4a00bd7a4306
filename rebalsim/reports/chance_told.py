"""What chance decides of a story, over seeds, as sentences."""

from __future__ import annotations

from rebalsim.analysis.over_seeds import NEARLY, OverSeeds
from rebalsim.domain.percentiles import percentile
from rebalsim.domain.scenario import Scenario, has_draws, is_sampled
from rebalsim.domain.script_shift import shift_of
from rebalsim.trace.events import ConsumerExited
from rebalsim.trace.trace import Trace
from rebalsim.words.lists import listed
from rebalsim.words.times import say_duration

HEADLINES_OF_CHANCE = ("longest_pause", "partition_seconds", "partitions_touched", "rebalances")
OF_TASKS_OF_CHANCE = ("longest_task_pause", "task_seconds", "worker_rebalances")


def said_of_chance(over: OverSeeds, scenario: Scenario) -> str:
    """Which headlines of the scenario chance decides, and what that chance is, as a sentence."""
    metrics = _metrics_of(over)
    known = {metric: over.known(metric) for metric in metrics}
    names = {metric: metric.replace("_seconds", "-seconds").replace("_", " ") for metric in metrics}
    if "longest_pause" in known and _is_of_start(over):
        known["longest_pause"], names["longest_pause"] = (
            sorted(over.settled),
            "longest pause after the start",
        )
    ends = {names[m]: (values[0], values[-1]) for m, values in known.items() if values}
    same = [name for name, (low, high) in ends.items() if high - low <= NEARLY * high]
    varied = [name for name in ends if name not in same]
    parts = []
    if varied:
        differs = "differs" if _is_one(varied) else "differ"
        parts.append(f"{listed(varied, len(varied))} {differs} by chance ({chances_in(scenario)})")
    if same:
        nearly = "nearly " if any(ends[name][0] != ends[name][1] for name in same) else ""
        verb = "is" if _is_one(same) else "are"
        parts.append(f"{listed(same, len(same))} {verb} {nearly}the same under every seed")
    return f"Over {len(over.seeds)} seeds {'; '.join(parts)}." if parts else ""


def _metrics_of(over: OverSeeds) -> tuple[str, ...]:
    """The headline metrics that there are: of partitions, and of Connect's tasks where there are
    any; of the tasks alone where a cluster has no partitions at all.
    """
    if not over.known(OF_TASKS_OF_CHANCE[0]):
        return HEADLINES_OF_CHANCE
    has_partitions = any(over.known("partitions_touched"))
    return OF_TASKS_OF_CHANCE + (HEADLINES_OF_CHANCE[:-1] if has_partitions else ())


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
        say_duration(round(value))
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


def said_of_leader(scenario: Scenario, trace: Trace) -> str:
    """That it is chance which of Connect's workers leads after the first, where more than one of
    them goes; else empty.
    """
    waits = {
        c.name
        for group in scenario.groups
        for c in group.consumers
        if c.worker is not None and c.worker.waits_for_the_lost
    }
    gone = sum(type(e) is ConsumerExited and e.consumer in waits for e in trace.events)
    if len(waits) < 2 or gone < 2:
        return ""
    return (
        "The first worker to join leads; who leads after it is a matter of member ids, which each "
        "seed draws anew. Where the leader goes, its work waits for no delay, and a delay that "
        "runs is over: --runs 20 says how much hangs on that."
    )


def _is_one(names: list[str]) -> bool:
    return len(names) == 1 and names[0].startswith("longest pause")
