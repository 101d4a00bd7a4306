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


def say_duration(us: int) -> str:
    """A duration as people say it: `850 µs`, `44 ms`, `3.01 s`, `5 m 12 s`, `2 h 5 m`."""
    if us < 0:
        return "−" + say_duration(-us)
    if us < MS:
        return f"{us} µs"
    if us < SECOND:
        return f"{us / MS:.0f} ms" if us >= 10 * MS or us % MS == 0 else f"{us / MS:.1f} ms"
    if us < MINUTE:
        return f"{us / SECOND:.2f} s" if us < 10 * SECOND else f"{us / SECOND:.1f} s"
    if us < HOUR:
        minutes, seconds = divmod(round(us / SECOND), 60)
        return f"{minutes} m {seconds} s" if seconds else f"{minutes} m"
    hours, minutes = divmod(round(us / MINUTE), 60)
    return f"{hours} h {minutes} m" if minutes else f"{hours} h"
