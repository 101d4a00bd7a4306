"""What every renderer is fed with: one value for a run of several variants, a comparison of files,
or a single trace.

Whoever plays or opens something builds a `Report`; nothing here opens, measures or judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalsim.analysis import Analysis
from rebalsim.domain.budget import Level
from rebalsim.domain.remedy import Remedy
from rebalsim.domain.verdict import Outcome


@dataclass(frozen=True, slots=True)
class Spread:
    """What a metric came to over several seeds (nearest rank); `known` of `runs` could tell it."""

    least: float
    median: float
    p95: float
    most: float
    runs: int
    known: int


@dataclass(frozen=True, slots=True)
class BySeed:
    """Headline metrics of several seeds, in the order of these: how sure a choice is."""

    seeds: tuple[int, ...] = ()
    values: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BudgetResult:
    """A budget or expectation that was judged, as it is told."""

    text: str  # as the file says it: `longest_pause <= 25s`
    variant: str
    outcome: Outcome
    observed: str = ""  # in words: `35.0 s`
    limit: str = ""
    because: str = ""  # the pause that spent it, as a sentence
    level: Level = Level.ERROR
    file: str = ""
    line: int = 0
    seed: int = 0  # of the run that decided
    runs: int = 1  # that it was judged over


@dataclass(frozen=True, slots=True)
class VariantReport:
    """One column of a report: a run (or a recording, or logs) with what it means."""

    name: str  # eager, cooperative, as-written, recorded, or a file's name in a comparison
    analysis: Analysis
    heading: str = ""  # the name with its assignor: `eager (range)`
    file: str = ""  # where it comes from
    # metric → over seeds; empty: one run only
    spread: Mapping[str, Spread] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what the variant changed or dropped, in sentences
    by_seed: BySeed = BySeed()
    remedies: tuple[Remedy, ...] = ()  # what was tried and helps, the best of each pause first

    @property
    def title(self) -> str:
        """The heading, or the name where there is none."""
        return self.heading or self.name

    def measure(self, metric: str) -> float | None:
        """What the metric comes to: in the middle of the seeds where there are several, else in
        the one run.
        """
        spread = self.spread.get(metric)
        return self.analysis.measure(metric) if spread is None else spread.median


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is told about one story or comparison."""

    title: str
    variants: tuple[VariantReport, ...]
    description: str = ""
    file: str = ""  # the scenario's or trace's file, as the user named it
    scenario: str = ""  # the scenario's text, embedded in pages
    digest: str = ""
    kafka: str = ""
    seed: int | None = None
    version: str = ""  # of rebalsim
    command: str = ""  # what repeats it
    # a comparison: which variant is held against which, before and after
    pairs: tuple[tuple[int, int], ...] = ()
    budgets: tuple[BudgetResult, ...] = ()
    notes: tuple[str, ...] = ()
    # an incident's: what is said first in place of what figures say, and the chain of events, each
    # with its heading
    first: tuple[str, ...] = ()
    chain: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def is_comparison(self) -> bool:
        """Its columns are files beside each other, not variants of one story."""
        return bool(self.pairs)

    @property
    def horizon_us(self) -> int:
        """Where the longest of its runs ends."""
        return max((v.analysis.horizon_us for v in self.variants), default=0)


def notes_of(report: Report) -> list[str]:
    """The variants' notes, each with its variants' names where there are several; a note that
    several share stands once.
    """
    shared: dict[str, list[str]] = {}
    for v in report.variants:
        for note in v.notes:
            shared.setdefault(note if note.endswith(".") else f"{note}.", []).append(v.name)
    return [
        note if len(report.variants) == 1 else f"{', '.join(names)}: {note}"
        for note, names in shared.items()
    ]
