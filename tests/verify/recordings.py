"""Folders of recordings, each replayed without jitter and judged."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rebalsim.simulation.world import play
from rebalsim.verify.judge import Judgement, judge
from rebalsim.verify.prediction import prediction_of
from rebalsim.verify.replay import scenario_of
from rebalsim.verify.traces import load

REALITY = Path(__file__).parents[1] / "reality"


def names_in(folder: str) -> list[str]:
    return sorted(
        path.name.removesuffix(".json.gz") for path in (REALITY / folder).glob("*.json.gz")
    )


@cache
def judged(folder: str, name: str) -> Judgement:
    document = load(REALITY / folder / f"{name}.json.gz")
    scenario, drive = scenario_of(document)
    return judge(document, prediction_of(play(scenario, seed=1, wire=True, drive=drive)))
