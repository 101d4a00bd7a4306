"""THE definition of a percentile: the nearest rank, reckoned in whole numbers; the same for Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

N = TypeVar("N", int, float)


def percentile(ordered: Sequence[N], percent: float) -> N | None:
    """The value at that percentile by nearest rank (SQL's percentile_disc); None of nothing. The
    values are given in ascending order.
    """
    if not ordered:
        return None
    return ordered[rank_of(percent, len(ordered)) - 1]


def rank_of(percent: float, count: int) -> int:
    """Which of so many ordered values (from 1 on) is the one at that percentile: the nearest
    rank. The one definition there is, reckoned in whole numbers: in floats 55 / 100 × 100 is a
    little more than 55. `rank_in_sql` says the same to Spark.
    """
    parts = round(percent * PARTS) * count
    return min(max(-(-parts // (100 * PARTS)), 1), count)


PARTS = 1_000_000  # a percentile is told to so many parts of a per cent


def rank_in_sql(percent: str, count: str) -> str:
    """The nearest rank, as `rank_of` defines it, as an SQL expression over columns or numbers."""
    parts = f"CAST(round({percent} * {PARTS}) AS BIGINT) * {count}"
    return f"CAST(greatest(1, ({parts} + {100 * PARTS - 1}) div {100 * PARTS}) AS INT)"
