"""What a lint rule says to write is played where it can be, and told with what it came to."""

from __future__ import annotations

from click.testing import CliRunner

from rebalsim.advice.fixes import try_fix
from rebalsim.advice.trial import Purse
from rebalsim.cli.main import door
from rebalsim.lint.registry import check
from rebalsim.scenario.load import load_scenario


def lint(*arguments: str) -> str:
    told = CliRunner().invoke(door, ["lint", *arguments], standalone_mode=False)
    return " ".join(told.stdout.split())


def test_a_warning_says_what_its_advice_comes_to_in_this_story() -> None:
    said = lint("topic-growth")
    assert "write metadata.max.age.ms: 30s" in said
    assert "→ metadata.max.age.ms: 30s, tried over 20 seeds of eager: longest pause 4 m" in said


def test_what_is_not_tried_has_no_arrow() -> None:
    assert "→" not in lint("topic-growth", "--advise", "off")
    assert "→" not in lint("topic-growth", "--advise", "300")


def test_the_figures_are_those_of_playing_it() -> None:
    story = load_scenario("topic-growth")
    problem = next(p for p in check(story) if p.fix)
    tried = try_fix(story, problem.fix_variant, problem.fix, Purse(50_000))
    assert tried is not None and "longest_pause" in tried.better
    for name in tried.better:
        assert tried.after[name] < 0.9 * tried.before[name]
    for name in tried.worse:
        assert tried.after[name] > 1.1 * tried.before[name]
