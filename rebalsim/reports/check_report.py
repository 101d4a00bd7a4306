"""What the renderers of a check are fed with: plain values that can travel between processes.
Nothing here plays, measures or judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalsim.analysis.baseline import Change
from rebalsim.domain.budget import Level
from rebalsim.domain.errors import Problem
from rebalsim.domain.verdict import Ending, Outcome


@dataclass(frozen=True, slots=True)
class Checked:
    """One budget or expectation in one variant, as it came out and as it is told."""

    name: str  # as the file says it, with its selection: `longest_pause <= 25s [topics orders]`
    variant: str
    outcome: Outcome
    level: Level = Level.ERROR
    file: str = ""
    line: int = 0
    column: int = 0
    metric: str = ""  # empty for a fact
    op: str = ""
    observed: float | None = None  # in the metric's base unit
    limit: float | None = None
    said: str = ""  # what was observed, in words
    limit_said: str = ""  # the limit in words, where the file gives it relative to something
    headroom: float | None = None  # share of the limit left; negative: exceeded
    because: str = ""  # the pause that spent it, as a sentence
    hint: str = ""  # what would have helped
    open_pauses: int = 0  # counted so far
    is_unsettled: bool = False
    runs: int = 1
    broken: int = 0  # of these runs
    seed: int = 0  # of the run that decided
    again: str = ""  # the command that repeats it
    spread: str = ""  # what more seeds come to, where one run is a sample

    @property
    def is_broken(self) -> bool:
        """Whether it ends a build: warnings only tell."""
        return self.outcome is Outcome.FAIL and self.level == Level.ERROR

    @property
    def is_open(self) -> bool:
        return self.outcome is Outcome.INCONCLUSIVE and self.level == Level.ERROR

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class StoryChecked:
    """One scenario file with all its budgets."""

    file: str
    title: str = ""
    checked: tuple[Checked, ...] = ()
    problems: tuple[Problem, ...] = ()  # the file cannot be judged
    bug: str = ""  # rebalsim contradicted itself
    has_budgets: bool = True
    notes: tuple[str, ...] = ()
    runs: int = 0  # that were played
    seconds: float = 0.0  # on the clock

    @property
    def ending(self) -> Ending:
        if self.bug:
            return Ending.BUG
        if any(not p.is_warning for p in self.problems):
            return Ending.INVALID
        if any(c.is_broken for c in self.checked):
            return Ending.FAIL
        return Ending.INCONCLUSIVE if any(c.is_open for c in self.checked) else Ending.PASS


@dataclass(frozen=True, slots=True)
class Comparison:
    """All stories against a baseline."""

    file: str
    changes: tuple[Change, ...] = ()
    # (file, variant) → what changed besides the figures
    reasons: Mapping[tuple[str, str], str] = field(default_factory=dict)
    max_regression: float | None = None  # a share; None: changes are only told
    gone: tuple[str, ...] = ()  # files of the baseline that were not checked
    rebalsim: str = ""  # the version that wrote it
    # (file, variant) → where the file says what changed
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict)
    # (file, variant) → what a longer horizon could still make worse
    still_open: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    @property
    def undecided(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """What cannot be said to be no worse than is allowed; nothing where nothing is judged."""
        return (
            {} if self.max_regression is None else {k: v for k, v in self.still_open.items() if v}
        )

    def line_of(self, change: Change) -> int:
        """Where a regression is told of: at the setting that changed, if the file says it."""
        return self.lines.get((change.file, change.variant), 1)

    def is_too_much(self, change: Change) -> bool:
        """Whether it got worse by more than is allowed."""
        return (
            self.max_regression is not None
            and change.kind == "regressed"
            and change.share > self.max_regression
        )


@dataclass(frozen=True, slots=True)
class Flip:
    """What a what-if does to one budget or metric of a variant."""

    file: str
    variant: str
    name: str
    before: str  # in words
    after: str
    outcome_before: Outcome | None = None  # None: a metric without a budget
    outcome_after: Outcome | None = None
    line: int = 0

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """As it came out: before and after where that differs, else once, or nothing at all."""
        if self.outcome_before is None or self.outcome_after is None:
            return ()
        return tuple(dict.fromkeys((self.outcome_before, self.outcome_after)))

    @property
    def is_flipped(self) -> bool:
        return len(self.outcomes) > 1


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Everything that a check found."""

    stories: tuple[StoryChecked, ...]
    version: str = ""
    comparison: Comparison | None = None
    flips: tuple[Flip, ...] | None = None  # of a what-if
    overrides: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()  # plans
    is_cut_short: bool = False  # by --fail-fast
    seconds: float = 0.0
    problems: tuple[str, ...] = ()  # of the check itself: not of one story
    saved: tuple[str, ...] = ()  # files that were written, and what for

    @property
    def checked(self) -> tuple[Checked, ...]:
        return tuple(c for s in self.stories for c in s.checked)

    @property
    def ending(self) -> Ending:
        """The gravest of all."""
        found: list[Ending] = [s.ending for s in self.stories]
        if self.comparison is not None and any(
            map(self.comparison.is_too_much, self.comparison.changes)
        ):
            found.append(Ending.FAIL)
        if self.comparison is not None and self.comparison.undecided:
            found.append(Ending.INCONCLUSIVE)
        if self.problems:
            found.append(Ending.INVALID)
        return max(found, key=list(Ending).index, default=Ending.PASS)

    @property
    def heading(self) -> str:
        """What the whole came to, in a few words."""
        is_only_worse = self.ending is Ending.FAIL and not any(
            story.ending is Ending.FAIL for story in self.stories
        )
        return "Worse than the baseline allows" if is_only_worse else _HEADINGS[self.ending]


_HEADINGS = {
    Ending.PASS: "Every budget is kept",
    Ending.INCONCLUSIVE: "Undecided",
    Ending.FAIL: "A budget is broken",
    Ending.INVALID: "Something is wrong with a scenario",
    Ending.BUG: "rebalsim contradicts itself",
}
