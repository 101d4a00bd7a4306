"""What a lint rule says to write, played: better, worse, or no difference in this story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.advice.case import Case, both
from rebalsim.advice.judging import is_less
from rebalsim.advice.trial import OutOfEvents, Played, Purse, changed, over_seeds
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.remedy import HEADLINES_OF_ADVICE, Patch, Turn
from rebalsim.domain.scenario import everybody_in
from rebalsim.one_run import run_once
from rebalsim.scenario.story import Story

EVENTS = 50_000  # a variant of a file: linting is quick
_JUDGED = (*HEADLINES_OF_ADVICE, "skipped")
_OF_BROKERS = ("group.initial.rebalance.delay.ms",)


@dataclass(frozen=True, slots=True)
class FixTried:
    """What the headlines came to in the middle of the seeds, without the fix and with it."""

    before: dict[str, float]
    after: dict[str, float]
    seeds: int
    better: tuple[str, ...]
    worse: tuple[str, ...]


def try_fix(
    story: Story, variant: str, fix: Sequence[tuple[str, str]], purse: Purse
) -> FixTried | None:
    """The fix in this variant; None where it cannot be played, or not within these events."""
    played = Played(story, variant)
    try:
        with purse.bound():
            patch = _patch(story, variant, fix)
        other = None if patch is None else changed(played, patch)
        if other is None:
            return None
        for one in (played, other):
            one.play(story.seed, purse)
        seeds = over_seeds(played, other, purse)
    except OutOfEvents:
        return None
    before, after = played.over(seeds), other.over(seeds)
    return FixTried(
        before,
        after,
        len(seeds),
        tuple(name for name in _JUDGED if is_less(name, after, before)),
        tuple(name for name in _JUDGED if is_less(name, before, after)),
    )


def _patch(story: Story, variant: str, fix: Sequence[tuple[str, str]]) -> Patch | None:
    scenario = story.scenario(variant)
    who = next(iter(everybody_in(scenario)), None)
    if who is None:
        return None
    case = Case(story, variant, scenario, run_once(scenario, story.seed).analysis)
    parts = [_part(case, who, key, value) for key, value in fix]
    return both(*parts)


def _part(case: Case, who: Consumer, key: str, value: str) -> Patch | None:
    """One key of a fix, in the block where it stands: the brokers', the group's own, or Kafka's."""
    if key in _OF_BROKERS or key.startswith("group.consumer."):
        return case.brokers(key, value)
    if key.startswith(("handler.", "life.", "streams.", "group.instance.id")):
        return case.group_key(who, key, "", value)
    if key.startswith("connectors."):
        return Patch((Turn(key, "", value),), ((f"connect.{key}", value),))
    if key.startswith("script."):
        _, line, name = key.split(".", 2)
        return case.in_script(int(line), name, "", value)
    return case.group_key(who, f"config.{key}", "", value)
