"""Findings on a real file: each on the line that causes it, with its caret under the value."""

from __future__ import annotations

import pytest

from rebalsim.domain.errors import Problem
from rebalsim.lint.registry import check
from rebalsim.scenario.load import story_of

STORY = """\
topics:
  orders: {partitions: 12, rate: 600/s}
group:
  members: 14
  config:
    session.timeout.ms: 10s
    heartbeat.interval.ms: 5s
    partition.assignment.strategy: [cooperative-sticky]
  handler:
    per_record: 1ms
    commit: sync-record
  life:
    start: 20s
    stop: 60s
script:
  - at: 2m
    rolling_bounce: {settle: 1m}
  - {at: 40m, crash: c1}
horizon: 41m
replay: [as-written]
budgets:
  longest_pause: "<= 2s"
"""


@pytest.fixture(scope="module")
def problems() -> dict[str, Problem]:
    story = story_of(STORY.encode(), "story.yaml").check()
    return {p.rule: p for p in check(story)}


@pytest.mark.parametrize(
    ("rule", "line", "under"),
    [
        ("session-under-three-heartbeats", 7, "5s"),
        ("sync-commit-per-record", 11, "sync-record"),
        ("dynamic-in-statefulset", 16, "at: 2m"),
        ("budget-under-detection", 22, "longest_pause"),
        ("idle-members", 4, "14"),
        (
            "grace-under-stop",
            14,
            "60s",
        ),  # the grace period is a default; the stop that it is too short for is written
    ],
)
def test_it_stands_where_the_file_says_it(
    problems: dict[str, Problem], rule: str, line: int, under: str
) -> None:
    problem = problems[rule]
    assert (problem.file, problem.line) == ("story.yaml", line)
    assert problem.source == STORY.split("\n")[line - 1]
    assert problem.source[problem.column - 1 : problem.column - 1 + problem.width] == under


def test_the_lines_ascend() -> None:
    story = story_of(STORY.encode(), "story.yaml").check()
    lines = [p.line for p in check(story)]
    assert lines == sorted(lines) and len(lines) == 6


DEFAULT_LIST = """\
topics: {orders: 12}
group:
  members: 2
"""


@pytest.mark.parametrize(
    ("config", "replay", "variants"),
    [
        ("", "", []),  # a default, in the variant that shows it
        ("", "replay: [as-written]\n", ["as-written"]),  # a default, and nothing else is played
        (
            "  config: {partition.assignment.strategy: [range, cooperative-sticky]}\n",
            "",
            ["eager"],
        ),  # somebody believes in it
        ("  config: {partition.assignment.strategy: [range]}\n", "", []),
    ],
)
def test_the_default_list_is_told_of_where_it_is_written_or_all_there_is(
    config: str, replay: str, variants: list[str]
) -> None:
    story = story_of((DEFAULT_LIST + config + replay).encode(), "story.yaml").check()
    found = [p for p in check(story) if p.rule == "default-list-runs-eager"]
    assert len(found) == len(variants)
    for problem, variant in zip(found, variants):
        assert problem.line == (4 if config else 3)  # what nobody wrote is placed at the group
        assert len(story.variants) == 1 or problem.message.endswith(f"(in the variant {variant})")
