"""Time is integer microseconds: an instant since the start of the run, or a duration. Intervals
are half-open.
"""

from __future__ import annotations

US = 1
MS = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
