"""rebalsim from Python: `replay(path).variant("cooperative").pauses.longest < seconds(2)`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import rebalsim
from rebalsim import milliseconds, minutes, seconds
from rebalsim.domain.errors import InputError, ProblemsError

STORY = """\
topics: {orders: {partitions: 4, rate: 100/s}, mails: 2}
group: {members: 2, handler: 1ms}
script: [{at: 50s, id: kill, crash: c0}]
replay: [eager, cooperative]
horizon: 3m
budgets: {cooperative: {longest_pause: "<= 10s"}}
"""


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.yaml"
    path.write_text(STORY, encoding="utf-8")
    return path


def test_pauses_compare_with_lengths_of_time(story: Path) -> None:
    played = rebalsim.replay(story).variant("cooperative")
    assert played.pauses.longest > seconds(2) and played.pauses.longest < minutes(1)
    assert seconds(1.5) == milliseconds(1500) == 1_500_000
    assert (
        played.pauses.total >= played.pauses.longest
        and played.pauses.partitions == 3
        and len(played.pauses) >= 3
    )
    assert played.rebalances >= 1 and played.lag_peak > 0 and played.pauses.open == 0
    assert (
        played.pauses.spent_in("detection") > 0
        and played.pauses[0].length_us == played.pauses.longest
    )


def test_a_part_of_the_pauses_is_measured_alone(story: Path) -> None:
    pauses = rebalsim.replay(story).variant("eager").pauses
    assert pauses.of(until=seconds(40)).longest == 0 and len(pauses.of(until=seconds(40))) == 0
    assert {p.partition.topic for p in pauses.of(topics=["mails"])} == {"mails"}
    assert pauses.of(action="kill").longest == pauses.longest
    assert pauses.of(members=["c1"], topics=["orders"]).partitions <= 4


def test_what_an_assertion_shows_is_a_sentence(story: Path) -> None:
    played = rebalsim.replay(story).variant("eager")
    assert str(seconds(44.1)) == "44.1 s" and repr(seconds(0)) == "0 s"
    assert "stood still for" in repr(played.pauses) and "after c0 crashed (kill)" in repr(
        played.pauses
    )
    assert repr(played.pauses.of(until=seconds(40))) == "<no partition stood still>"
    assert repr(rebalsim.replay(story)).endswith("story.yaml: eager, cooperative>")


def test_any_metric_by_its_name(story: Path) -> None:
    played = rebalsim.replay(story).variant("eager")
    assert played.metric("longest-pause") == played.pauses.longest and repr(
        played.metric("longest_pause")
    ).endswith(" s")
    with pytest.raises(InputError, match="did you mean 'longest_pause'"):
        played.metric("longest_puase")


def test_overrides_and_seeds(story: Path) -> None:
    short = (
        rebalsim.replay(story, {"group.config.session.timeout.ms": "10s"})
        .variant("eager")
        .pauses.longest
    )
    assert short < rebalsim.replay(story).variant("eager").pauses.longest
    assert (
        short
        == rebalsim.replay(story, ["group.config.session.timeout.ms=10s"])
        .variant("eager")
        .pauses.longest
    )
    assert rebalsim.replay(story, seed=5).variant("eager").analysis.header.seed == 5
    with pytest.raises(ProblemsError, match="did you mean 'config'"):
        rebalsim.replay(story, {"group.confg.x": 1})


def test_a_variant_must_be_named_where_there_are_several(story: Path) -> None:
    with pytest.raises(InputError, match='say which with variant\\("eager"\\)'):
        rebalsim.replay(story).variant()
    with pytest.raises(InputError, match="did you mean 'cooperative'"):
        rebalsim.replay(story).variant("cooperativ")


def test_the_files_own_budgets(story: Path) -> None:
    (budget,) = rebalsim.replay(story).budgets()
    assert (budget.name, budget.outcome, budget.line) == ("longest_pause <= 10s", "fail", 6)
    story.write_text(STORY.replace("<= 10s", "<= baseline"), encoding="utf-8")
    with pytest.raises(ProblemsError, match="relative to a baseline"):
        rebalsim.replay(story).budgets()


def test_analyse_takes_a_trace_or_its_file(story: Path, tmp_path: Path) -> None:
    from rebalsim.trace.jsonl import write_trace

    played = rebalsim.replay(story).variant("eager")
    write_trace(played.trace, tmp_path / "t.jsonl")
    assert (
        rebalsim.analyse(tmp_path / "t.jsonl").measure("longest_pause")
        == rebalsim.analyse(played.trace).measure("longest_pause")
        == played.pauses.longest
    )


def test_importing_rebalsim_imports_nothing_else() -> None:
    code = (
        "import rebalsim, sys; print(sorted(m for m in sys.modules if m.startswith('rebalsim.') "
        "or m in ('simpy', 'yaml', 'click', 'rich')))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_everything_that_is_offered_is_there() -> None:
    assert all(hasattr(rebalsim, name) for name in rebalsim.__all__)
    with pytest.raises(AttributeError, match="no attribute 'reply'"):
        rebalsim.reply  # noqa: B018
