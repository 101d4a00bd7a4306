"""One story's budgets and expectations: what must be played for them, what each run measures, and
the verdicts over all seeds.

`StoryJudge` takes runs one by one, in any order, and keeps none; `run`, `check`, the pytest plugin
and the Python API all use it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.baseline import key_of, selection_said
from rebalsim.analysis.judge import (
    BASELINE,
    judge_fact,
    judge_run,
    measure_budget,
    measure_fact,
    over_seeds,
    reference_of,
)
from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.errors import Problem
from rebalsim.domain.verdict import Measured, Outcome, RunVerdict, Verdict
from rebalsim.reports.check_notes import (
    NO_BASELINE,
    not_in_baseline,
    of_variants,
    spread_of_budget,
    spread_of_fact,
)
from rebalsim.reports.check_report import Checked
from rebalsim.scenario.story import Story


@dataclass(frozen=True, slots=True)
class Question:
    """One budget or expectation of one variant."""

    asked: Budget | Expectation
    variant: str

    @property
    def name(self) -> str:
        """As the file says it, with its selection and level: what --only, pytest and JUnit
        call it.
        """
        if isinstance(self.asked, Expectation):
            return self.asked.text
        said = selection_said(self.asked)
        over = "" if self.asked.percentile is None else f" (p{self.asked.percentile:g} over seeds)"
        return f"{self.asked.text}{f' [{said}]' if said else ''}{over}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The variants that must be played for it."""
        other = self.asked.relative_to if isinstance(self.asked, Budget) else ""
        return (self.variant, other) if other and other != BASELINE else (self.variant,)


def questions_of(story: Story, variants: Iterable[str] | None = None) -> tuple[Question, ...]:
    """All that the story asks, variant by variant, as it stands in the file."""
    asked: tuple[Budget | Expectation, ...] = (*story.budgets, *story.expectations)
    return tuple(
        Question(one, v)
        for v in (story.variants if variants is None else variants)
        for one in asked
        if not one.variant or one.variant == v
    )


Key = tuple[Budget | Expectation, str, int]  # what was asked, of which variant, with which seed


class StoryJudge:
    """Gathers what runs measure and says how the story's budgets came out."""

    def __init__(
        self,
        story: Story,
        questions: Iterable[Question] | None = None,
        runs: int | None = None,
        baseline: Mapping[str, Mapping[str, float]] | None = None,
        again: Callable[[str, int], str] | None = None,
        tells_spread: bool = False,
    ) -> None:
        """`questions` defaults to all of them; `baseline`: variant → key → value; `again` says which command
        repeats a variant and seed;
        `tells_spread`: one run of the consumer protocol is a sample, so where a single one is asked
        for, more seeds are judged.
        """
        self.story = story
        self.questions = tuple(questions_of(story) if questions is None else questions)
        self.runs = story.runs if runs is None else runs
        self.baseline = baseline
        self.measured: dict[Key, Measured] = {}
        self.again = again or self._command_for
        self.tells_spread = tells_spread

    @property
    def seeds(self) -> range:
        return range(self.story.seed, self.story.seed + self.runs)

    def seeds_of(self, variant: str) -> range:
        """The seeds that a variant is judged over: those that were asked for, or, where a single run
        is a sample, as many as it is told over.
        """
        if self.runs > 1 or not self.tells_spread:
            return self.seeds
        from rebalsim.one_run import is_sampled, spread_seeds

        scenario = self.story.scenario(variant)
        if not is_sampled(scenario):
            return self.seeds
        return range(self.story.seed, self.story.seed + spread_seeds(scenario))

    @property
    def variants(self) -> tuple[str, ...]:
        """What must be played, in the story's order."""
        needed = {name: None for q in self.questions for name in q.needs}
        return tuple(v for v in self.story.variants if v in needed)

    def asked_of(self, variant: str) -> tuple[Budget | Expectation, ...]:
        """What must be measured in a run of this variant, for its own questions and as what
        others are relative to.
        """
        mine = [q.asked for q in self.questions if q.variant == variant]
        others = [
            reference_of(q.asked)
            for q in self.questions
            if isinstance(q.asked, Budget) and q.asked.relative_to == variant
        ]
        return tuple(dict.fromkeys((*mine, *others)))

    def measure(self, variant: str, seed: int, analysis: Analysis) -> list[tuple[Key, Measured]]:
        """What one run says to all that is asked of it; with the reason where it alone can say
        that a limit is broken.
        """
        found: list[tuple[Key, Measured]] = []
        for asked in self.asked_of(variant):
            if isinstance(asked, Expectation):
                found.append(((asked, variant, seed), measure_fact(analysis, asked)))
                continue
            measured = measure_budget(analysis, asked)
            if (
                self.runs == 1
                and not measured.problem
                and (asked.relative_to or judge_run(asked, measured).outcome is not Outcome.PASS)
            ):
                measured = explained(analysis, asked, measured)
            found.append(((asked, variant, seed), measured))
        return found

    def add(self, variant: str, seed: int, analysis: Analysis) -> None:
        """One more run."""
        self.measured.update(self.measure(variant, seed, analysis))

    # -------------------------------------------------------------------------------------- the end

    def verdict(self, question: Question) -> Verdict:
        """How it came out over all seeds; runs that nobody handed in are played now."""
        if isinstance(question.asked, Expectation):
            return over_seeds(
                [
                    (seed, judge_fact(self._of(question.asked, question.variant, seed)))
                    for seed in self.seeds_of(question.variant)
                ]
            )
        found = [
            (seed, self._judged(question.asked, question.variant, seed))
            for seed in self.seeds_of(question.variant)
        ]
        verdict = over_seeds(found, question.asked.percentile)
        if len(found) > 1 and verdict.outcome is not Outcome.PASS and not verdict.problem:
            decided = verdict.deciding
            measured = explained(
                self._played(question.variant, decided.seed), question.asked, decided.measured
            )
            return replace(verdict, deciding=replace(decided, measured=measured))
        return verdict

    def _judged(self, budget: Budget, variant: str, seed: int) -> RunVerdict:
        measured = self._of(budget, variant, seed)
        if not budget.relative_to:
            return judge_run(budget, measured)
        if budget.relative_to != BASELINE:
            other = self._of(reference_of(budget), budget.relative_to, seed)
            return judge_run(budget, measured, other)
        known = (self.baseline or {}).get(variant, {}).get(key_of(budget))
        if known is None and not measured.problem:
            measured = replace(measured, problem=self._lacking(budget, variant))
        return judge_run(budget, measured, known)

    def _lacking(self, budget: Budget, variant: str) -> str:
        if self.baseline is None:
            return NO_BASELINE
        return not_in_baseline(key_of(budget), variant)

    def _of(self, asked: Budget | Expectation, variant: str, seed: int) -> Measured:
        key = (asked, variant, seed)
        if key not in self.measured:
            self.add(variant, seed, self._played(variant, seed))
        return self.measured[key]

    def _played(self, variant: str, seed: int) -> Analysis:
        from rebalsim.one_run import run_once

        analysis: Analysis = run_once(self.story.scenario(variant), seed).analysis
        return analysis

    def one(self, question: Question) -> Checked | Problem:
        """Its verdict as it is told, or why it makes no sense in this story, on its line."""
        verdict = self.verdict(question)
        if not verdict.problem:
            return self._told(question, verdict)
        width = len(
            question.asked.metric if isinstance(question.asked, Budget) else question.asked.text
        )
        return self.story.problem(
            question.asked.line, question.asked.column, verdict.problem, width
        )

    @cached_property
    def _all(self) -> tuple[Checked | Problem, ...]:
        return tuple(self.one(q) for q in self.questions)

    def problems(self) -> tuple[Problem, ...]:
        """Questions that make no sense in this story, each once with its variants. To be asked
        when all runs are in.
        """
        variants: dict[Problem, list[str]] = {}
        for question, found in zip(self.questions, self._all):
            if isinstance(found, Problem):
                variants.setdefault(found, []).append(question.variant)
        played = len(dict.fromkeys(q.variant for q in self.questions))
        told = [
            p if len(names) == played else replace(p, message=f"{p.message} ({of_variants(names)})")
            for p, names in variants.items()
        ]
        return tuple(sorted(told, key=lambda p: (p.line, p.column)))

    def checked(self) -> tuple[Checked, ...]:
        """Every question's verdict; those that make no sense are among the problems instead. To
        be asked when all runs are in.
        """
        return tuple(found for found in self._all if isinstance(found, Checked))

    def told(self) -> list[tuple[Question, Checked]]:
        """Every question that makes sense, with its verdict."""
        return [
            (question, told)
            for question, told in zip(self.questions, self._all)
            if isinstance(told, Checked)
        ]

    def is_advisable(self, question: Question, checked: Checked) -> bool:
        """Whether it is broken, and something could be tried against it."""
        asked = question.asked
        return (
            checked.outcome is Outcome.FAIL and isinstance(asked, Budget) and not asked.relative_to
        )

    def broken(self) -> dict[str, list[Budget]]:
        """Variant → its budgets that are broken."""
        found: dict[str, list[Budget]] = {}
        for question, checked in self.told():
            if self.is_advisable(question, checked) and isinstance(question.asked, Budget):
                found.setdefault(question.variant, []).append(question.asked)
        return found

    def _told(self, q: Question, verdict: Verdict) -> Checked:
        from rebalsim.reports.verdict_told import say_amount, say_openness

        run = verdict.deciding
        m = run.measured
        is_uncertain = run.outcome is Outcome.INCONCLUSIVE or m.unowned
        said = [m.because, say_openness(m) if is_uncertain else ""]
        made = Checked(
            q.name,
            q.variant,
            run.outcome,
            q.asked.level,
            self.story.file,
            q.asked.line,
            q.asked.column,
            because=" ".join(part for part in said if part),
            hint=m.hint,
            open_pauses=m.open_pauses,
            is_unsettled=m.is_unsettled,
            runs=verdict.runs,
            broken=verdict.broken,
            seed=run.seed,
            again=self.again(q.variant, run.seed),
            spread=self._spread(q),
        )
        if isinstance(q.asked, Expectation):
            return replace(
                made,
                observed=run.observed,
                said="it holds" if run.outcome is Outcome.PASS else m.said,
            )
        b = q.asked
        limit_said = (
            f"{say_amount(b.metric, run.limit, run.observed)} ({b.text.split(' ', 2)[2]})"
            if b.relative_to
            else ""
        )
        return replace(
            made,
            metric=b.metric,
            op=b.op,
            observed=run.observed,
            limit=run.limit,
            said=say_amount(b.metric, run.observed, run.limit),
            limit_said=limit_said,
            headroom=run.headroom,
        )

    def _spread(self, q: Question) -> str:
        """What the question comes to in the middle and at the ends, where more seeds are judged than
        were asked for.
        """
        seeds = self.seeds_of(q.variant)
        if len(seeds) <= self.runs:
            return ""
        return spread_said(q.asked, [self._of(q.asked, q.variant, seed) for seed in seeds])

    def _command_for(self, variant: str, seed: int) -> str:
        words = ["rebalsim", "run", self.story.file, "--variant", variant, "--seed", str(seed)]
        return shlex.join(
            [
                *words,
                *(
                    w
                    for o in self.story.overrides
                    if isinstance(o, str) and not o.startswith("seed=")
                    for w in ("--set", o)
                ),
            ]
        )


def spread_said(asked: Budget | Expectation, found: list[Measured]) -> str:
    """What so many seeds come to, and how many of them break it."""
    if isinstance(asked, Expectation):
        broken = sum(judge_fact(m).outcome is Outcome.FAIL for m in found)
        return spread_of_fact(len(found), broken)
    values = sorted(float(m.value) for m in found if m.value is not None)
    if not values:
        return ""
    verdicts = [] if asked.relative_to else [judge_run(asked, m).outcome for m in found]
    return spread_of_budget(asked, values, len(found), verdicts.count(Outcome.FAIL))


def explained(analysis: Analysis, asked: Budget | Expectation, measured: Measured) -> Measured:
    """What was measured, with the sentence about what spent it."""
    if not isinstance(asked, Budget) or measured.unowned:
        return measured
    from rebalsim.reports.evidence_told import tell_evidence

    return replace(measured, because=tell_evidence(analysis, asked))
