"""Remedies for what a command has played: who tries them, and the reports with what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rebalsim.advice.advise import Advisor
    from rebalsim.check.one_story import StoryJudge
    from rebalsim.reports.report import VariantReport
    from rebalsim.scenario.story import Story


def advisor_for(story: Story, events: int | None) -> Advisor | None:
    """Who tries remedies within so many events (None: the usual number); nobody where that is 0."""
    if events == 0:
        return None
    from rebalsim.advice.advise import DEFAULT_EVENTS, Advisor

    return Advisor(story, DEFAULT_EVENTS if events is None else events)


def with_remedies(
    played: list[VariantReport], advisor: Advisor | None, judge: StoryJudge | None
) -> list[VariantReport]:
    """The variants with what was tried and helps."""
    if advisor is None:
        return played
    from rebalsim.reports.report import BySeed

    found = advisor.remedies(judge.broken() if judge is not None else {})
    return [
        replace(v, remedies=found.get(v.name, ()), by_seed=BySeed(*advisor.by_seed(v.name)))
        for v in played
    ]
