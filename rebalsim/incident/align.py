"""The scenario's starts set so that each JoinGroup leaves when it did: what a process does before it
asks hangs on its client, and one play tells how long that takes.
"""

from __future__ import annotations

from rebalsim.incident.costs import Costs
from rebalsim.incident.replay import scenario_in, shifts_of
from rebalsim.incident.to_scenario import Written, to_scenario
from rebalsim.one_run import run_once
from rebalsim.worlds.logs.observation import GroupStory


def aligned(story: GroupStory, costs: Costs | None = None, is_static: bool = False) -> Written:
    """The story's scenario with each start at its moment. `costs`: others than what was observed;
    `is_static`: with an instance id for each process, kept over its lives.
    """
    written = to_scenario(story, costs, is_static=is_static)
    played = run_once(scenario_in(written.text)).analysis
    return to_scenario(story, costs, shifts_of(written, played), is_static)
