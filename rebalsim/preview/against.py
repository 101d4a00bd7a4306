"""What would keep the budgets that a deploy breaks: tried where all run with the new settings and are
restarted as they stand, for the roll itself begins with pods that have the old ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.advice.advise import Advisor
from rebalsim.analysis.baseline import key_of
from rebalsim.analysis.judge import judge_run, measure_budget
from rebalsim.domain.budget import Budget
from rebalsim.domain.verdict import Outcome
from rebalsim.preview.runs import Limit, Runs, metric_named
from rebalsim.reports.remedies_told import remedy_against, tell_remedy

STORY = " of a restart with the new settings"


def hints_against(
    restart: Runs, limits: Sequence[Limit], broken: Sequence[str], events: int
) -> tuple[dict[str, str], int]:
    """By metric, for those that the deploy breaks and a restart does, too: what helps, in words,
    tried within so many events; and how many of them that took.
    """
    budgets = [{metric_named(metric): limit} for metric, limit, _ in limits]
    story = restart.story.with_overrides([("budgets", budgets)]).check()
    asked = [b for b in story.budgets if b.metric in broken and _breaks(restart, b)]
    if not asked:
        return {}, 0
    advisor, variant = Advisor(story, events), story.variants[0]
    for seed, analysis in restart.analyses.items():
        advisor.saw(variant, seed, analysis)
    found = advisor.remedies({variant: asked}, is_of_budgets=True, most=len(asked))[variant]
    remedies = {b.metric: (key_of(b), remedy_against(key_of(b), found)) for b in asked}
    told = {
        metric: tell_remedy(remedy, key, STORY)
        for metric, (key, remedy) in remedies.items()
        if remedy is not None
    }
    return told, advisor.paid


def _breaks(runs: Runs, budget: Budget) -> bool:
    return any(
        judge_run(budget, measure_budget(analysis, budget)).outcome is Outcome.FAIL
        for analysis in runs.analyses.values()
    )
