"""What a sweep says, as plain values: the points worth knowing, what the next cheaper one
breaks, and which axis moves the result.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AxisSaid:
    """An axis as reports show it: its values in order, as written, and what they measure."""

    name: str
    kind: str  # number | duration | text
    path: str  # the setting, empty for cases
    labels: tuple[str, ...]  # empty for a sampled axis
    numbers: tuple[float | None, ...] = ()
    is_sampled: bool = False


@dataclass(frozen=True, slots=True)
class PointSaid:
    """A point with one variant, over its seeds."""

    number: int
    scenario: str
    variant: str
    at: dict[str, str]  # axis → value as written
    digits: dict[str, int]  # axis → place among its values; −1 for a sampled one
    settings: tuple[tuple[str, str], ...]
    consumers: int | None
    cost_per_hour: float | None
    seeds: int
    errors: int
    error: str
    pass_share: float | None
    verdict: str  # pass | fail | inconclusive | error
    broken: tuple[str, ...]  # the budgets it breaks
    objectives: tuple[float | None, ...]
    is_on_front: bool
    # p50, p95 and the worst over the seeds
    metrics: dict[str, tuple[float | None, float | None, float | None]]
    settles: str = ""  # at once | slowly | never: of the worst seed
    fullest: float | None = (
        None  # share of its time that the member with the most partitions is busy, by arithmetic
    )


@dataclass(frozen=True, slots=True)
class BudgetSaid:
    """One budget at one point."""

    budget: str
    metric: str
    verdict: str
    observed: float | None
    limit: float | None
    pass_share: float
    worst_seed: int | None


@dataclass(frozen=True, slots=True)
class ValueSaid:
    """One value of an axis, over all points that have it."""

    value: str
    points: int
    errors: int
    pass_share: float | None
    mean: float | None
    least: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class Bar:
    """How far an axis moves the main metric: its mean over the points with the value where it is
    lowest, and where it is highest.
    """

    axis: str
    low_value: str
    low: float
    high_value: str
    high: float
    values: tuple[ValueSaid, ...] = ()

    @property
    def width(self) -> float:
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Answer:
    """All that reports need, and nothing that grows with the sweep."""

    title: str
    description: str
    plan_file: str
    version: str
    out: str
    axes: tuple[AxisSaid, ...]
    variants: tuple[str, ...]
    scenarios: tuple[str, ...]
    objectives: tuple[str, ...]
    main_metric: str
    main_percentile: float | None  # over seeds; None: the worst
    currency: str
    has_costs: bool
    budgets: tuple[str, ...]
    points: int  # with a result or an error, variants counted apart
    runs: int
    passing: int
    failing: int
    inconclusive: int
    erring: int
    errors: tuple[tuple[str, int], ...]  # the commonest, with how many points have it
    cut: int
    best: tuple[PointSaid, ...]  # those that meet all budgets, by the objectives
    next_cheaper: PointSaid | None  # the best of those that break something though it is cheaper
    next_cheaper_budgets: tuple[BudgetSaid, ...]
    front: tuple[PointSaid, ...]
    tornado: tuple[Bar, ...]
    # what the page can draw: all points of a small sweep, a plane and the front of a large one
    shown: tuple[PointSaid, ...]
    is_all_shown: bool
    # run prefix → the main metric's values at 0 … 100 % of the seeds
    curves: dict[str, list[float]] = field(default_factory=dict)
    heat: tuple[str, ...] = ()
    show: str = ""
    first_seed: int = 1
    seeds: int = 1
