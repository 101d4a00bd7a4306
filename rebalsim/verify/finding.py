"""What every kind of verification ends in: a figure, the first differences, and whether all is
identical.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Finding:
    """One file held against rebalsim."""

    file: str
    kind: str
    ok: bool  # identical throughout (vectors, conversations); replayed (traces)
    summary: str  # one line for people
    details: list[str] = field(default_factory=list)  # readable differences, first ones first
    document: dict[str, Any] = field(default_factory=dict)  # what --json prints
    data: Any = None  # for the judge's own summary over many files
