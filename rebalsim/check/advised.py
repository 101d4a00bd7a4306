"""What helps a broken budget: tried remedies in the place where its failure is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from rebalsim.analysis.baseline import key_of
from rebalsim.check.one_story import Question, StoryJudge
from rebalsim.domain.budget import Budget
from rebalsim.reports.check_report import Checked


def _untold(events: int, most: int) -> None:
    """Nobody watches."""


def advised(
    judge: StoryJudge, events: int | None = None, watch: Callable[[int, int], None] = _untold
) -> tuple[Checked, ...]:
    """The story's verdicts, broken ones with what was tried within so many events (None: the
    usual number) and helps. `watch` is told how many of them have been played.
    """
    told = judge.told()
    if events == 0 or not any(judge.is_advisable(q, checked) for q, checked in told):
        return tuple(checked for _, checked in told)
    return tuple(_with_hints(judge, told, events, watch))


def advised_one(judge: StoryJudge, question: Question, checked: Checked) -> Checked:
    """One verdict alone, likewise."""
    return next(iter(_with_hints(judge, [(question, checked)], None)))


def _with_hints(
    judge: StoryJudge,
    told: Iterable[tuple[Question, Checked]],
    events: int | None,
    watch: Callable[[int, int], None] = _untold,
) -> Iterable[Checked]:
    from rebalsim.advice.advise import DEFAULT_EVENTS, remedies_of
    from rebalsim.reports.remedies_told import remedy_against, tell_remedy

    told = list(told)
    broken: dict[str, list[Budget]] = {}
    for q, checked in told:
        if judge.is_advisable(q, checked) and isinstance(q.asked, Budget):
            broken.setdefault(q.variant, []).append(q.asked)
    budget = DEFAULT_EVENTS if events is None else events
    found = remedies_of(judge.story, budget, tuple(broken), broken, watch) if broken else {}
    for q, checked in told:
        if isinstance(q.asked, Budget) and q.asked in broken.get(q.variant, ()):
            remedy = remedy_against(key_of(q.asked), found.get(q.variant, ()))
            if remedy is not None:
                checked = replace(checked, hint=tell_remedy(remedy, key_of(q.asked)))
        yield checked
