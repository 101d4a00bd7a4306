"""What chance allows: a replay taken as if it had been recorded."""

from __future__ import annotations

from typing import Any

import pytest

from rebalsim.simulation.world import play
from rebalsim.trace.trace import Trace
from rebalsim.verify.chance import allowed, as_recorded, told
from rebalsim.verify.coin_flips import replays
from rebalsim.verify.judge import judge, total
from rebalsim.verify.prediction import prediction_of
from rebalsim.verify.replay import scenario_of
from tests.verify.test_traces import load


def played(document: dict[str, Any]) -> Trace:
    scenario, drive = scenario_of(document)
    return play(scenario, seed=1, wire=True, drive=drive)


@pytest.mark.parametrize("name", ["crash-sticky", "grow-eager"])
def test_a_replay_finds_all_of_itself(name: str) -> None:
    document = load(name)
    trace = played(document)
    figures = total([judge(as_recorded(trace, document), prediction_of(trace))])
    assert figures["pauses"] > 0
    assert figures["pauses_percent"] == figures["events_percent"] == 100.0
    assert figures["members_same"] == figures["members"] and figures["generations_right"] == 1
    assert figures["callback_ms"] == [0, 0] and figures["pause_error_ms"] == [0, 0]


@pytest.mark.slow
def test_another_group_is_not_found() -> None:
    """What is held against a replay of another script differs from it."""
    document = load("crash-sticky")
    other = load("grow-eager")
    figures = total([judge(as_recorded(played(document), document), prediction_of(played(other)))])
    assert figures["pauses_percent"] < 100.0


@pytest.mark.slow
def test_the_spread_is_over_seeds_of_all_recordings_together() -> None:
    document = load("crash-sticky")
    plain = prediction_of(played(document))
    right = judge(as_recorded(played(document), document), plain)
    wrong = judge(
        as_recorded(played(document), document), {"generations": 0, "callbacks": [], "pauses": []}
    )
    limits = allowed([[right, right], [right, wrong]])  # two recordings, two seeds
    assert limits["seeds"] == 2
    assert limits["pauses_percent"] == [75.0, 50.0, 100.0]
    assert "chance allows 75.0 % of pauses (50.0 to 100.0 over 2 seeds)" in told(limits)


def test_each_seed_is_judged_both_ways() -> None:
    document = load("crash-sticky")
    judged, mirrored = replays(document, prediction_of(played(document)), seeds=2)
    assert len(judged) == len(mirrored) == 2
    assert all(result.members == 3 for result in mirrored)
