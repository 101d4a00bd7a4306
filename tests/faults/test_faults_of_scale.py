"""Faults that were found in what is said of a story's size before it is played: each a test named by
it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rebalsim.cli.main import code_of
from rebalsim.scenario.load import story_of
from rebalsim.scenario.scale import scale_of, why_it_takes_long, why_too_large

STORY = """\
topics: {orders: {partitions: 24, rate: 100/s}}
group: {members: 10}
random_faults: [{kind: crash, about_every: 1m, for: 1s}]
replay: [eager, cooperative]
horizon: HORIZON
budgets: {longest_pause: "<= 10s"}
"""


@pytest.fixture
def long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    def struck(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rebalsim.one_run.play", struck)
    Path("s.yaml").write_text(STORY.replace("HORIZON", "3d"), "utf-8")
    return "s.yaml"


@pytest.mark.parametrize("words", [["run"], ["check", "-j", "1"]])
def test_a_run_that_takes_minutes_said_nothing_beforehand(
    words: list[str], long: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of([*words, long]) == 130
    said = capsys.readouterr().err
    assert said.startswith("s.yaml: this comes to some 86,400 rebalances in each of 2 runs"), said


@pytest.mark.parametrize("command", ["run", "check"])
def test_what_will_not_fit_was_found_when_its_variant_came(
    command: str, long: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rebalsim.one_run.free_memory", lambda: 1_000_000_000)
    assert code_of([command, long]) == 2  # and not 130: nothing was played
    assert "3 GB; 1.0 GB are free — a horizon of" in capsys.readouterr().err


def test_the_horizon_that_is_said_to_fit_fits() -> None:
    def story(horizon: str) -> Any:
        return story_of(STORY.replace("HORIZON", horizon).encode(), "s").scenario("eager")

    for why in (
        lambda one: why_too_large(scale_of(one), 1_000_000_000),
        lambda one: why_it_takes_long([(one, 3)]),
    ):
        found = re.search(r"(?:of |\()((?:\d+ [dhms] ?)+)", why(story("9d")))
        assert found is not None
        assert not why(story(found[1].replace(" ", "")))
