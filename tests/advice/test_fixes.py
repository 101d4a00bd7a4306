"""What a lint rule says to write is played where it can be, and told with what it came to."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from rebalsim.advice.fixes import try_fix
from rebalsim.advice.trial import Purse
from rebalsim.cli.main import door
from rebalsim.lint.registry import check
from rebalsim.scenario.load import load_scenario


def lint(*arguments: str) -> str:
    told = CliRunner().invoke(door, ["lint", *arguments], standalone_mode=False)
    return " ".join(told.stdout.split())


def lint_text(folder: Path, text: str) -> str:
    path = folder / "story.yaml"
    path.write_text(text, encoding="utf-8")
    return lint(str(path))


def test_a_warning_says_what_its_advice_comes_to_in_this_story() -> None:
    said = lint("topic-growth")
    assert "write metadata.max.age.ms: 30s" in said
    assert "→ metadata.max.age.ms: 30s, tried over 20 seeds of eager: longest pause 4 m" in said


def test_what_is_not_tried_has_no_arrow() -> None:
    assert "→" not in lint("topic-growth", "--advise", "off")
    assert "→" not in lint("topic-growth", "--advise", "300")


def test_the_figures_are_those_of_playing_it() -> None:
    story = load_scenario("topic-growth")
    problem = next(p for p in check(story) if p.fix and p.fix[0][0] == "metadata.max.age.ms")
    tried = try_fix(story, problem.fix_variants[0], problem.fix, Purse(50_000))
    assert tried is not None and "longest_pause" in tried.better
    for name in tried.better:
        assert tried.after[name] < 0.9 * tried.before[name]
    for name in tried.worse:
        assert tried.after[name] > 1.1 * tried.before[name]


HANDLING = """
topics: {orders: {partitions: 6, rate: 60/s}}
group:
  members: 3
  config: {enable.auto.commit: false, session.timeout.ms: 10s}
  handler: {per_record: 1ms, commit: none}
  life: {start: 2s, stop: 20s, grace: 5s}
script:
- {at: 1m, freeze: {member: c0, for: 20s}}
- {at: 2m, rolling_bounce: {down: 2s}}
replay: [eager]
horizon: 4m
"""


def test_fixes_of_the_handler_of_the_process_and_of_the_session_are_played(tmp_path: Path) -> None:
    said = lint_text(tmp_path, HANDLING)
    for fix in ("handler.commit: sync-batch", "life.grace: 25s", "session.timeout.ms: 25s"):
        assert f"→ {fix}, tried over" in said


def test_what_is_read_at_last_is_among_what_a_fix_brings() -> None:
    assert "auto.offset.reset: earliest, tried over 20 seeds of eager: skipped" in lint(
        "topic-growth"
    )


STREAMS = """
topics: {orders: {partitions: 6, rate: 100/s}}
group:
  members: 3
  streams: {topology: [{source: orders, store: 12GB}], volume: lost}
script:
- {at: 2m, crash: {member: c0, restart_after: 10s}}
replay: [as-written]
horizon: 8m
"""


def test_fixes_of_an_application_are_played(tmp_path: Path) -> None:
    said = lint_text(tmp_path, STREAMS)
    assert "→ volume: kept, tried over" in said and "→ num.standby.replicas: 1, tried over" in said
    assert "longest pause" in said.split("→ volume: kept")[1]


SCRIPT = """
topics: {orders: {partitions: 12, rate: 60/s}}
group: {members: 4, life: {start: 10s}}
script:
- {at: 1m, scale: {to: 8, stagger: 20s}}
- {at: 5m, rolling_bounce: {ready_after: 1s}}
replay: [eager]
horizon: 10m
"""


def test_fixes_of_the_script_are_played_at_the_action_that_they_are_about(tmp_path: Path) -> None:
    said = lint_text(tmp_path, SCRIPT)
    assert "→ stagger: 0s, tried over" in said
    assert "→ ready_when: assigned, tried over" in said


def test_a_fix_is_tried_in_each_variant_that_it_is_for() -> None:
    said = lint("streams-rolling-deploy")
    static = '→ group.instance.id: "{name}", tried over 20 seeds of '
    assert f"{static}dynamic: longest pause" in said and f"{static}standby: longest pause" in said
    assert f"{static}static" not in said
