"""Budgets and expectations as they stand in a scenario: a limit on a metric, or a fact that must
hold. Judging them is analysis' work.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rebalsim.domain.unit import Amount


class Level(StrEnum):
    """What comes of a budget or a fact that is not kept."""

    ERROR = "error"
    WARN = "warn"  # it is only told


@dataclass(frozen=True, slots=True)
class Budget:
    """`metric op limit`, for a variant or all, within a selection; `text` is what the file says."""

    metric: str
    op: str  # <= | < | >= | > | ==
    limit: (
        float  # in the metric's base unit (µs for durations); a factor where `relative_to` is set
    )
    text: str
    relative_to: str = (
        ""  # a variant's name or "baseline": the limit is `factor × that` or `that + percent`
    )
    variant: str = ""  # empty: every variant
    topics: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    from_us: int | None = None
    until_us: int | None = None
    action: str = ""
    percentile: float | None = None  # over seeds; None: the worst seed
    level: Level = Level.ERROR
    line: int = 0
    column: int = 0
    unit: Amount = Amount.NONE  # what the limit was written as


@dataclass(frozen=True, slots=True)
class Expectation:
    """A fact: `orders-3 owned by c2` at an instant, `no rebalance` between two, `c1 is fenced`
    ever.
    """

    # owned-by | unowned | no-rebalance | fenced | not-fenced | removed | not-removed | stable |
    # empty | gone
    fact: str
    subject: str
    object: str = ""
    variant: str = ""
    from_us: int | None = None
    until_us: int | None = None
    text: str = ""
    level: Level = Level.ERROR
    line: int = 0
    column: int = 0
