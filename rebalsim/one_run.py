"""One run end to end: a resolved scenario and a seed in, the trace and what it means out. Read
this first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rebalsim.domain.errors import InputError
from rebalsim.domain.scenario import Scenario, is_sampled
from rebalsim.outside.memory import free_memory
from rebalsim.scenario.scale import scale_of, why_too_large
from rebalsim.simulation.world import play
from rebalsim.trace.trace import Trace

if TYPE_CHECKING:
    from rebalsim.analysis.over_seeds import OverSeeds

SPREAD_SEEDS = 20  # over so many a group is told that chance decides …
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

    refuse_what_will_not_fit(scenario)
    trace = on_the_wire(scenario, seed) if wire else play(scenario, seed=seed)
    analysis = analyse(trace)
    analysis.expected = subscribed_in(scenario)
    return Run(trace, analysis)


def refuse_what_will_not_fit(scenario: Scenario) -> None:
    """InputError, before anything is played, where the trace would need more memory than there is."""
    scale = scale_of(scenario)
    if scale.bytes > ALWAYS_FITS and (why := why_too_large(scale, free_memory())):
        raise InputError(why)


ALWAYS_FITS = 1_000_000_000


def subscribed_in(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """Group → the topics that its members of the start subscribe to: what must find an owner
    before any figure means anything.
    """
    names = [t.name for t in scenario.topics]
    found: dict[str, tuple[str, ...]] = {}
    for group in scenario.groups:
        kinds = {(c.topics, c.pattern): c for c in group.consumers if c.starts_at is not None}
        found[group.name] = tuple(
            [name for name in names if any(c.subscribes_to(name) for c in kinds.values())]
        )
    return found


def on_the_wire(scenario: Scenario, seed: int | None = None) -> Trace:
    """Play the run and tell every request and answer: heartbeats, commits and batches too."""
    return play(scenario, seed=seed, wire=True)


def spread_seeds(scenario: Scenario) -> int:
    """Over how many seeds a story of this size is told."""
    return (
        SPREAD_SEEDS
        if sum(len(group.consumers) for group in scenario.groups) <= 50
        else SPREAD_SEEDS_OF_MANY
    )


def spread(
    scenario: Scenario,
    seeds: int | None = None,
    each: Callable[[int, Any], None] = lambda seed, analysis: None,
) -> OverSeeds:
    """The metrics of so many runs, from the scenario's own seed on. What is the same in all of
    them is rule, the rest is chance. `each` is shown every seed's analysis.
    """
    from rebalsim.analysis.over_seeds import OverSeeds

    if seeds is None:
        seeds = spread_seeds(scenario)
    over = OverSeeds()
    for seed in range(scenario.seed, scenario.seed + seeds):
        analysis = run_once(scenario, seed).analysis
        over.add(seed, analysis)
        each(seed, analysis)
    return over


__all__ = ["Run", "is_sampled", "on_the_wire", "run_once", "spread", "spread_seeds"]
