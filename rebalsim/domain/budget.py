"""Budgets and expectations as they stand in a scenario: a limit on a metric, or a fact that must
hold. Judging them is analysis' work.
"""

from __future__ import annotations

from dataclasses import dataclass


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
    level: str = "error"  # error | warn
    line: int = 0
    column: int = 0
    # what the limit was written as: duration | count | share | bytes | rate | byte_rate | factor
    unit: str = ""


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
    level: str = "error"
    line: int = 0
    column: int = 0
