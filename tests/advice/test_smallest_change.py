"""The smallest change that keeps all budgets: the same one whether a run looks for it or a search,
and held over the same seeds in every variant.
"""

from __future__ import annotations

from functools import cache

import pytest
from advised import hold, story_of

from rebalsim.advice.advise import Advisor
from rebalsim.advice.search import Search
from rebalsim.advice.tried import Found
from rebalsim.analysis.judge import judge_run, measure_budget
from rebalsim.domain.remedy import Remedy
from rebalsim.domain.verdict import Outcome
from rebalsim.one_run import run_once
from rebalsim.reports.answer_choice import rank_of_change
from rebalsim.scenario.story import Story

# Pods of a StatefulSet, a rolling deploy, and one handler that hangs: every variant waits for it.
HANGS = """\
title: One of three pods hangs
topics: {orders: {partitions: 6, rate: 120/s}}
group:
  members: 3
  handler: {per_record: 2ms, commit: sync-batch}
  config: {max.poll.interval.ms: 5m, group.instance.id: "{name}"}
  life: {start: 20s, stop: 5s}
script:
  - {at: 60s, rolling_bounce: {max_unavailable: 1}}
  - {at: 150s, hang: {member: c1, for: 6m}}
horizon: 10m
budgets: {longest_pause: "<= 60s"}
replay: [eager, consumer]
"""

EVENTS = 200_000


@cache
def _story() -> Story:
    return story_of(HANGS)


@cache
def _searched(events: int) -> Found:
    story = _story()
    return Search(story, story.variants, events).run()


@cache
def _advised() -> dict[str, tuple[Remedy, ...]]:
    story = _story()
    advisor = Advisor(story)
    broken = {}
    for variant in story.variants:
        analysis = run_once(story.scenario(variant), story.seed).analysis
        advisor.saw(variant, story.seed, analysis)
        broken[variant] = [
            b
            for b in story.budgets
            if judge_run(b, measure_budget(analysis, b)).outcome is Outcome.FAIL
        ]
    assert all(broken.values()), "the story is one that every variant breaks"
    return advisor.remedies(broken)


def _cures() -> list[Remedy]:
    kept = [r for remedies in _advised().values() for r in remedies if r.keeps_budgets]
    return sorted(kept, key=lambda r: rank_of_change(r.cost, r.after))


@pytest.mark.slow
def test_a_run_and_a_search_name_the_same_change_of_the_same_variant() -> None:
    first, cure = _searched(EVENTS).choices[0], _cures()[0]
    assert (first.tried.variant, first.tried.patch.sets) == (cure.variant, cure.patch.sets)
    assert first.tried.middle()["longest_pause"] == cure.after["longest_pause"]


@pytest.mark.slow
def test_what_leads_was_held_in_every_variant_over_the_same_seeds() -> None:
    cure = _cures()[0]
    alike = [r for r in _cures() if r.patch.turns == cure.patch.turns]
    assert {r.variant for r in alike} == set(_story().variants)
    assert {r.seeds for r in alike} == {tuple(range(1, 21))}


@pytest.mark.slow
def test_what_else_helps_is_held_over_as_many_seeds_as_what_leads() -> None:
    """Two arrows of one pause begin with the same figure."""
    for variant, remedies in _advised().items():
        assert len(remedies) > 1 and {r.seeds for r in remedies} == {tuple(range(1, 21))}
        of_pause = [r for r in remedies if r.of == remedies[0].of]
        assert len({r.before["longest_pause"] for r in of_pause}) == 1
        hold(_story(), variant, remedies[-1])


@pytest.mark.slow
def test_what_leads_is_what_it_claims() -> None:
    cure = _cures()[0]
    hold(_story(), cure.variant, cure)


@pytest.mark.slow
def test_a_search_holds_what_leads_before_it_looks_further() -> None:
    """With far fewer events it leaves out what comes after the first choice, and says so."""
    whole = _searched(EVENTS)
    assert whole.is_settled
    few = _searched(whole.events // 2)
    assert few.is_spent
    assert few.choices[0].tried.key == whole.choices[0].tried.key
