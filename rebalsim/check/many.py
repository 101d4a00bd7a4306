"""Many stories checked: load, plan the runs, play them, judge. Hands back plain values; prints
and writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial

from rebalsim.analysis.baseline import Baseline, VariantBaseline, key_of, name_in_baseline
from rebalsim.analysis.judge import judge_run, over_seeds
from rebalsim.check.advised import advised
from rebalsim.check.one_story import Question, StoryJudge, questions_of
from rebalsim.check.tasks import Played, Tally, Task, cores, play_all
from rebalsim.domain.budget import Budget
from rebalsim.domain.errors import InputError, Problem, ProblemsError
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.verdict import Ending
from rebalsim.one_run import refuse_what_will_not_fit
from rebalsim.reports.check_notes import NO_BUDGETS, judged_over, names_there_are, not_judged_yet
from rebalsim.reports.check_report import StoryChecked
from rebalsim.scenario.load import load_scenario
from rebalsim.scenario.scale import why_it_takes_long
from rebalsim.scenario.story import Story


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to check."""

    overrides: tuple[str, ...] = ()
    allow_code: bool = False
    runs: int | None = None
    only: tuple[str, ...] = ()
    jobs: int | None = None
    is_fail_fast: bool = False
    requires_budgets: bool = False
    baseline: Baseline | None = None
    with_metrics: bool = False  # measure the headlines of every variant, for baselines and what-ifs
    advise: int | None = None  # events to try remedies with; None: the usual number, 0: none
    is_saving: bool = False  # budgets relative to a baseline that is not there yet are left out


@dataclass(slots=True)
class StoriesChecked:
    """What was found, and the figures for a baseline."""

    stories: list[StoryChecked] = field(default_factory=list)
    tallies: dict[str, dict[str, VariantBaseline]] = field(default_factory=dict)
    is_cut_short: bool = False
    loaded: dict[str, Story] = field(default_factory=dict)


@dataclass(slots=True)
class _Case:
    """A story on its way."""

    file: str
    story: Story | None
    judge: StoryJudge | None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    bug: str = ""
    runs: int = 0
    tallies: dict[str, Tally] = field(default_factory=dict)


def check_files(
    files: Sequence[str],
    wanted: Wanted,
    step: Callable[[int, int], None] = lambda done, total: None,
    trying: Callable[[str, int, int], None] = lambda file, events, most: None,
    forewarn: Callable[[str], None] = lambda said: None,
) -> StoriesChecked:
    """All of them. `step` is told how many runs of how many are done, `trying` for which file how
    many events of how many have been played to try what could help, `forewarn` which of them
    take long, before any is played.
    """
    cases = [_load(place, file, wanted) for place, file in enumerate(files)]
    _refuse_nothing_chosen(cases, wanted)
    tasks = [task for case in cases for task in case.tasks]
    total = sum(t.seeds[1] - t.seeds[0] for t in tasks)
    for case in cases:
        if said := why_it_takes_long(_playings(case)):
            forewarn(f"{case.file}: {said}")
    outcome = StoriesChecked(loaded={c.file: c.story for c in cases if c.story is not None})
    done = 0
    with closing(play_all(tasks, wanted.jobs)) as results:
        for case in cases:
            began = time.monotonic()
            for played in _of_case(case, results):
                done += played.task.seeds[1] - played.task.seeds[0]
                step(done, total)
                _take(case, played)
            checked = _conclude(case, wanted, time.monotonic() - began, trying)
            outcome.stories.append(checked)
            if case.tallies and case.judge is not None and not case.bug:
                outcome.tallies[case.file] = _figures(case)
            is_bad = checked.ending in (Ending.FAIL, Ending.INVALID, Ending.BUG)
            if wanted.is_fail_fast and is_bad and len(outcome.stories) < len(cases):
                outcome.is_cut_short = True
                break
    return outcome


def _refuse_nothing_chosen(cases: Sequence[_Case], wanted: Wanted) -> None:
    """InputError where --only chooses no budget of any file; a file's own mistakes come first."""
    is_any = any(c.problems or (c.judge is not None and c.judge.questions) for c in cases)
    if wanted.only and not is_any:
        raise InputError(
            f"--only {' --only '.join(wanted.only)}: matches no budget — {_known(cases)}"
        )


def _load(place: int, file: str, wanted: Wanted) -> _Case:
    try:
        story = load_scenario(file, wanted.overrides, wanted.allow_code)
        for variant in story.variants:
            refuse_what_will_not_fit(story.scenario(variant))
    except ProblemsError as e:
        return _Case(file, None, None, e.problems)
    except InputError as e:
        return _Case(file, None, None, (Problem(file, 1, 1, str(e)),))
    has_no_budgets = not story.budgets and not story.expectations
    if has_no_budgets and wanted.requires_budgets:
        return _Case(file, story, None, (story.problem(1, 1, NO_BUDGETS.capitalize(), 1),))
    return _case_of(place, file, story, wanted, has_no_budgets)


def _case_of(place: int, file: str, story: Story, wanted: Wanted, has_no_budgets: bool) -> _Case:
    """What of a story is judged and what is played for it, with what has to be said of that."""
    chosen = tuple(q for q in questions_of(story) if is_chosen(q, file, wanted.only))
    notes: list[str] = []
    has_none_yet = wanted.is_saving and wanted.baseline is None
    judged = tuple(q for q in chosen if not (has_none_yet and _is_of_baseline(q)))
    if waiting := len(chosen) - len(judged):
        notes.append(not_judged_yet(waiting))
    if has_no_budgets:
        notes.append(f"{file}: {NO_BUDGETS}")
    known = None if wanted.baseline is None else _known_values(wanted.baseline, file)
    judge = StoryJudge(story, judged, wanted.runs, known, tells_spread=True)
    variants = story.variants if wanted.with_metrics else judge.variants
    if judge.runs == 1 and chosen:
        sampled = [v for v in judge.variants if _is_sampled(story, v)]
        notes += [f"{file}: {judged_over(_seeds_of(story, v))}" for v in sampled[:1]]
    tasks = tuple(
        Task(place, story, chosen, judge.runs, v, seeds, wanted.with_metrics)
        for v in variants
        for seeds in _parts(judge.seeds_of(v))
    )
    return _Case(file, story, judge, (), tuple(notes), tasks)


def _playings(case: _Case) -> Iterator[tuple[Scenario, int]]:
    """What is played for it, and how often."""
    for task in case.tasks:
        yield task.story.scenario(task.variant), task.seeds[1] - task.seeds[0]


def _is_of_baseline(q: Question) -> bool:
    return isinstance(q.asked, Budget) and q.asked.relative_to == "baseline"


def _is_sampled(story: Story, variant: str) -> bool:
    from rebalsim.one_run import is_sampled

    return is_sampled(story.scenario(variant))


def _seeds_of(story: Story, variant: str) -> int:
    from rebalsim.one_run import spread_seeds

    return spread_seeds(story.scenario(variant))


def is_chosen(q: Question, file: str, only: Sequence[str]) -> bool:
    """Whether --only means this budget: by its metric, its variant, its text, or a pattern on
    `file::variant::budget`.
    """
    name = f"{file}::{q.variant}::{q.name}"
    metric = q.asked.metric if isinstance(q.asked, Budget) else q.asked.fact
    return not only or any(
        one in (metric, q.variant) or one in name or fnmatchcase(name, one) for one in only
    )


def _known(cases: Sequence[_Case]) -> str:
    stories = [c.story for c in cases if c.story is not None]
    return names_there_are(list(dict.fromkeys(q.name for s in stories for q in questions_of(s))))


def _known_values(baseline: Baseline, file: str) -> Mapping[str, Mapping[str, float]]:
    return {
        variant: one.metrics
        for variant, one in baseline.stories.get(name_in_baseline(file), {}).items()
    }


def _parts(seeds: range) -> Iterator[tuple[int, int]]:
    """The seeds in pieces, several for each core."""
    size = max(1, -(-len(seeds) // (4 * cores())))
    for start in range(seeds.start, seeds.stop, size):
        yield start, min(start + size, seeds.stop)


def _of_case(case: _Case, results: Iterator[Played]) -> Iterator[Played]:
    for _ in case.tasks:
        yield next(results)


def _take(case: _Case, played: Played) -> None:
    case.bug = case.bug or played.bug
    case.runs += played.runs
    if case.judge is not None:
        case.judge.measured.update(played.measured)
    if played.tally.story:  # not of seeds that are judged beyond those that were asked for
        case.tallies.setdefault(played.task.variant, Tally()).add(played.tally)


def _conclude(
    case: _Case, wanted: Wanted, seconds: float, trying: Callable[[str, int, int], None]
) -> StoryChecked:
    has_budgets = case.story is not None and bool(case.story.budgets or case.story.expectations)
    made = StoryChecked(
        case.file,
        case.story.title if case.story is not None else "",
        (),
        case.problems,
        case.bug,
        has_budgets,
        case.notes,
        case.runs,
        seconds,
    )
    if case.judge is None or case.bug or case.problems:
        return made
    try:
        checked = advised(case.judge, wanted.advise, partial(trying, case.file))
        return replace(made, checked=checked, problems=case.judge.problems())
    except InputError:
        raise
    except Exception as e:  # only a bug of ours: one story's must not hide the others' verdicts
        return replace(made, bug=f"{type(e).__name__}: {e}")


def _figures(case: _Case) -> dict[str, VariantBaseline]:
    """Each variant's figures, with the values of what is budgeted in it."""
    judge = case.judge
    assert judge is not None
    asked = case.tasks[0].questions if case.tasks else ()
    budgets = [(q.variant, q.asked) for q in asked if isinstance(q.asked, Budget)]
    found = {}
    for variant, tally in case.tallies.items():
        metrics = dict(tally.metrics)
        for budget in (budget for of, budget in budgets if of == variant):
            if (value := _observed(judge, budget, variant)) is not None:
                metrics[key_of(budget)] = value
        found[variant] = VariantBaseline(
            judge.story.seed,
            judge.runs,
            tally.story,
            tally.config,
            metrics,
            tally.phases,
            tally.values,
            tally.still_open,
            tally.parts,
        )
    return found


def _observed(judge: StoryJudge, budget: Budget, variant: str) -> float | None:
    """What the budget's metric came to over the seeds: the worst, or at its percentile."""
    absolute = replace(budget, relative_to="", limit=0.0)
    measured = [judge.measured[budget, variant, seed] for seed in judge.seeds]
    if any(m.value is None for m in measured):
        return None
    return over_seeds(
        [(seed, judge_run(absolute, m)) for seed, m in zip(judge.seeds, measured)],
        budget.percentile,
    ).deciding.observed


__all__ = ["StoriesChecked", "Wanted", "check_files", "is_chosen", "name_in_baseline"]
