"""Stories for the tests of advice, and how a remedy is held to what it claims."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rebalsim.domain.percentiles import percentile
from rebalsim.domain.remedy import HEADLINES_OF_ADVICE, Remedy
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of as read
from rebalsim.scenario.story import Story

# Pods of a StatefulSet, a rolling deploy, and one handler that hangs.
DEPLOY = """\
title: Rolling deploy of a StatefulSet, one handler hangs
topics: {orders: {partitions: 24, rate: 240/s}}
group:
  members: {"consumer-{n}": {count: 6}}
  group.instance.id: "{name}"
  config: {session.timeout.ms: 60s, max.poll.interval.ms: 5m}
  handler: 2ms
script:
  - at: 1m
    rolling_bounce: {down: 25s, ready_after: 5s}
  - at: 2m
    hang: {member: consumer-5, for: 6m}
replay: [cooperative]
horizon: 10m
"""


def story_of(text: str, *overrides: str) -> Story:
    """The story that a text means."""
    return read(text.encode(), "story.yaml", overrides).check()


def figures(
    story: Story, variant: str, seeds: tuple[int, ...], names: tuple[str, ...] = HEADLINES_OF_ADVICE
) -> dict[str, float]:
    """What `run` comes to over these seeds: the middle of each metric."""
    runs = [run_once(story.scenario(variant), seed).analysis for seed in seeds]
    found = {}
    for name in names:
        values = sorted(v for run in runs if (v := run.measure(name)) is not None)
        if len(values) == len(runs):
            found[name] = float(percentile(values, 50) or 0)
    return found


def hold(story: Story, variant: str, remedy: Remedy) -> None:
    """The remedy's figures are what playing it comes to, it helps, and its price is told."""
    before = figures(story, variant, remedy.seeds)
    changed = story.with_overrides(remedy.patch.overrides).check()
    after = figures(changed, remedy.variant, remedy.seeds)
    _same(before, remedy.before)
    _same(after, remedy.after)
    assert "longest_pause" in remedy.before and "longest_pause" in remedy.after
    assert len(remedy.seeds) >= 5
    assert remedy.gains, remedy
    for name in remedy.gains:
        assert remedy.after[name] < 0.9 * remedy.before[name], (name, remedy)
    for name in after:
        is_worse = after[name] > 1.1 * before[name] + LEAST[name]
        assert not is_worse or name in remedy.price, (name, before[name], after[name], remedy)


def _same(played: Mapping[str, float], told: Mapping[str, float]) -> None:
    assert {name: told[name] for name in played} == dict(played)


LEAST = {  # what is less than this is nothing, whatever share of something it is
    "longest_pause": 20_000,
    "partition_seconds": 20_000,
    "rebalances": 0.5,
    "duplicates": 0.5,
    "lag_peak": 0.5,
    "rebalancing_share": 0.0005,
    "longest_task_pause": 20_000,
    "task_seconds": 20_000,
}


@cache
def deploy() -> Story:
    """The story above."""
    return story_of(DEPLOY)
