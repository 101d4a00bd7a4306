"""A sweep in values: axes and their steps, and the plan that spans a family of scenarios. Says
what is asked, not how it is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rebalsim.domain.budget import Budget
from rebalsim.domain.draws import Draw

# how an axis' values compare and print; durations are µs
Kind = Literal["number", "duration", "text"]


WAIT_FOR_WORKERS_S = 600.0  # how long a cluster may be without any worker before a sweep gives up


@dataclass(frozen=True, slots=True)
class Step:
    """One value of an axis: what the file says, what it measures, and the settings it puts on
    the scenario.
    """

    label: str
    settings: tuple[tuple[str, str], ...]  # path → value as `--set` takes it
    number: float | None = None  # in the axis' unit (µs for durations); None for words


@dataclass(frozen=True, slots=True)
class Axis:
    """One varied parameter: its steps in the plan's order."""

    name: str
    kind: Kind
    steps: tuple[Step, ...]
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class SampledAxis:
    """A parameter drawn anew for every sample from a distribution, together with the other
    sampled ones.
    """

    name: str
    path: str
    kind: Kind
    draw: Draw
    is_whole: bool = False  # rounded to a whole number (members, partitions)
    suffix: str = ""  # written behind the number: `/s`, `%`
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Objective:
    """What to make small (or large), in this order: `cost`, `consumers`, an axis, or a metric at
    a percentile over the seeds.
    """

    name: str
    percentile: float | None = None  # over seeds, of a metric; None: the worst seed
    text: str = ""


@dataclass(frozen=True, slots=True)
class Costs:
    """What things cost, in one currency."""

    member_hour: float = 0.0
    cross_zone_gb: float = 0.0
    currency: str = "EUR"

    @property
    def is_stated(self) -> bool:
        return self.member_hour > 0 or self.cross_zone_gb > 0


@dataclass(frozen=True, slots=True)
class Base:
    """One scenario that the plan varies, with its file's text, so that a sweep can travel and be
    replayed.
    """

    name: str  # short, for tables
    file: str
    text: str
    written: str = ""  # as the plan calls it


@dataclass(frozen=True, slots=True)
class Plan:
    """A family of scenarios and the question asked of it. A point is one value per axis; a run
    is a point × variant × seed.
    """

    title: str
    file: str
    text: str
    bases: tuple[Base, ...]
    axes: tuple[Axis, ...] = ()
    sampled: tuple[SampledAxis, ...] = ()
    samples: int = 1
    where: tuple[str, ...] = ()  # conditions a point must meet
    settings: tuple[tuple[str, str], ...] = ()  # what every point sets besides
    variants: tuple[str, ...] = ()  # empty: the scenario's own
    first_seed: int = 1
    seeds: int = 1
    budgets: tuple[Budget, ...] = ()
    has_budgets: bool = False  # it states its own (maybe none); else the scenario's count
    objectives: tuple[Objective, ...] = ()
    costs: Costs = Costs()
    heat: tuple[str, ...] = ()  # two axes for the picture
    show: str = (
        ""  # what the picture shows first: verdict, settles or a metric; empty: the main metric
    )
    run_limit_s: float = 60.0  # a run that takes longer is cut
    description: str = ""
    code_from: str = ""  # the folder of own assignors; empty: no code may be run

    @property
    def radices(self) -> tuple[int, ...]:
        """How many values each digit of a point's number has: base, axes in order, samples. The
        last varies fastest.
        """
        return (len(self.bases), *(len(axis.steps) for axis in self.axes), self.samples)

    @property
    def points(self) -> int:
        count = 1
        for radix in self.radices:
            count *= radix
        return count

    @property
    def every_axis(self) -> tuple[Axis | SampledAxis, ...]:
        return (*self.axes, *self.sampled)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all axes, as columns of the tables."""
        return (*(("scenario",) if len(self.bases) > 1 else ()), *(a.name for a in self.every_axis))
