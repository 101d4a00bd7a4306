"""One run end to end: a resolved scenario and a seed in, the trace and what it means out. Read this first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rebalsim.domain.scenario import Scenario
from rebalsim.simulation.world import play
from rebalsim.trace.trace import Trace


@dataclass(slots=True)
class Run:
    """What happened, and what it means."""

    trace: Trace
    analysis: Any


def run_once(scenario: Scenario, seed: int | None = None) -> Run:
    """Play the scenario (one variant) with this seed, its own if None, and analyse the trace."""
    from rebalsim.analysis import analyse          # here, so that playing alone does not load it

    trace = play(scenario, seed=seed)
    return Run(trace, analyse(trace))
