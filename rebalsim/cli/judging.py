"""`run` ends as `check` would: its story's budgets, judged on the runs that it plays anyway."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from rebalsim.cli import exits

if TYPE_CHECKING:
    from rebalsim.check.one_story import StoryJudge
    from rebalsim.reports.report import BudgetResult
    from rebalsim.scenario.story import Story


def judge_for(
    story: Story, variants: Sequence[str], runs: int, again: Callable[[str, int], str]
) -> StoryJudge | None:
    """What gathers the runs of these variants; None where nothing is budgeted. Budgets on a
    baseline are `check`'s, which is given one.
    """
    if not story.budgets and not story.expectations:
        return None
    from rebalsim.check.one_story import StoryJudge, questions_of
    from rebalsim.domain.budget import Budget

    questions = [
        q
        for q in questions_of(story, variants)
        if not (isinstance(q.asked, Budget) and q.asked.relative_to == "baseline")
    ]
    if not questions:
        return None
    return StoryJudge(story, questions, runs, again=again, tells_spread=True)


def conclude(judge: StoryJudge | None) -> tuple[tuple[BudgetResult, ...], int]:
    """The verdicts as reports tell them, and the exit code; what cannot be judged is told on
    stderr.
    """
    if judge is None:
        return (), exits.WITHIN
    from rebalsim.reports.check_report import StoryChecked
    from rebalsim.reports.report import BudgetResult

    story = StoryChecked(judge.story.file, checked=judge.checked(), problems=judge.problems())
    for problem in story.problems:
        click.echo(str(problem), err=True)
    told = tuple(
        BudgetResult(
            c.name,
            c.variant,
            c.outcome,
            c.said if c.metric else "",
            c.limit_said,
            c.because or (c.said if not c.metric else ""),
            c.level,
            c.file,
            c.line,
            c.seed,
            c.runs,
        )
        for c in story.checked
    )
    return told, exits.OF_CHECKS[story.ending]
