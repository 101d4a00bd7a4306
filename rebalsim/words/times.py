"""Durations and instants, as people say them."""

from __future__ import annotations

from rebalsim.domain.instants import HOUR, MINUTE, MS, SECOND


def say_duration(us: int) -> str:
    """A duration as people say it: `850 µs`, `44 ms`, `3.01 s`, `5 m 12 s`, `2 h 5 m`."""
    if us < 0:
        return "−" + say_duration(-us)
    if us == 0:
        return "0 s"
    if us < MS:
        return f"{us} µs"
    if us < SECOND - MS // 2:  # what would be rounded to a full one is said in the next unit
        return f"{us / MS:.0f} ms" if us >= 10 * MS or us % MS == 0 else f"{us / MS:.1f} ms"
    if us < MINUTE - 50 * MS:
        return f"{us / SECOND:.2f} s" if us < 10 * SECOND - 5 * MS else f"{us / SECOND:.1f} s"
    if us < HOUR - 500 * MS:
        minutes, seconds = divmod(round(us / SECOND), 60)
        return f"{minutes} m {seconds} s" if seconds else f"{minutes} m"
    hours, minutes = divmod(round(us / MINUTE), 60)
    return f"{hours} h {minutes} m" if minutes else f"{hours} h"


def say_instant(at_us: int, precision_us: int = MS) -> str:
    """`41 s`, `1:05`, `1:05.250`, `2:00:00`: as exact as needed for steps of that precision."""
    if at_us < 0:
        return "−" + say_instant(-at_us, precision_us)
    digits = 0 if precision_us >= SECOND else 3 if precision_us >= MS else 6
    if at_us < MINUTE:
        return f"{at_us / SECOND:.{digits}f} s" if digits else f"{at_us // SECOND} s"
    whole, part = divmod(at_us, SECOND)
    tail = f".{part:06d}"[: digits + 1] if digits else ""
    if at_us < HOUR:
        return f"{whole // 60}:{whole % 60:02d}{tail}"
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}{tail}"
