"""One figure of the benchmark: what was measured, the limit if there is one, and whether it is
kept.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """`measured` and `limit` in the same unit; `is_most`: the limit is the most, else the least."""

    name: str
    measured: float
    unit: str
    limit: float | None = None
    is_most: bool = True
    goal: float | None = None
    note: str = ""

    @property
    def ok(self) -> bool:
        if self.limit is None:
            return True
        return self.measured <= self.limit if self.is_most else self.measured >= self.limit

    def line(self) -> str:
        """One line of the table."""
        sign = "≤" if self.is_most else "≥"
        limit = (
            ""
            if self.limit is None
            else f"{sign} {self.limit:,.6g}" + ("" if self.ok else "  MISSED")
        )
        goal = "" if self.goal is None else f"goal {self.goal:,.6g}"
        shown = f"{self.measured:,.3g}" if self.measured < 100 else f"{self.measured:,.0f}"
        return (
            f"{self.name:<58} {shown:>9} {self.unit:<6} {limit:<18} {goal:<9} {self.note}".rstrip()
        )
