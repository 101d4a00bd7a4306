"""Lines of lag that only the end of observation has cut short: they are drawn anew when more is seen.

Lag lies on lines from corner to corner, and at the end of observation there is a corner because
there must be one. Where more is observed that corner is not there: the line runs on, to where the
lag really turns, and what lay on it has moved. So a highest lag on such lines, and an instant at
which a partition was back at its usual lag, hold to a few records or milliseconds only.
"""

from __future__ import annotations

from bisect import bisect_left

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.lag_trends import lag_at, usual
from rebalsim.analysis.measure import measure
from rebalsim.analysis.selecting import is_within, selected_keys, selected_pauses
from rebalsim.analysis.values import Pause
from rebalsim.domain.ids import Partition
from rebalsim.domain.metrics import Selection

Key = tuple[str, Partition]


def is_within_redrawing(a: Findings, metric: str, s: Selection, room: float | None) -> bool:
    """Whether a value so far from its limit may be on the other side when lines are drawn anew."""
    if room is None:
        return False
    if metric == "time_to_catch_up":
        return _is_catching_up_near(a, s, room)
    reach = redrawn_by(a, metric, s)
    return reach > 0 and abs(room) <= reach


def redrawn_by(a: Findings, metric: str, s: Selection) -> float:
    """How far a figure of lag may move when its lines are drawn anew."""
    if metric == "lag_peak":
        return _peak_moves_by(a, s)
    if metric == "lag_peak_partition":
        return _peak_of_one_moves_by(a, s)
    return _end_moves_by(a, s) if metric == "lag_at_end" else 0.0


def _peak_moves_by(a: Findings, s: Selection) -> float:
    keys = selected_keys(a, s)
    inside = [(lag, -at) for at, lag in a.lag_book.total(keys) if is_within(at, s)]
    if not inside:
        return 0.0
    peak, at = max(inside)
    by = sum(_moves_by(a, key, -at) for key in keys)
    return max(round(peak + by) - round(peak), round(peak) - round(peak - by))


def _peak_of_one_moves_by(a: Findings, s: Selection) -> float:
    least = most = peak = 0.0
    for key in selected_keys(a, s):
        for at, lag in a.lag_book.corners.get(key, ()):
            if is_within(at, s):
                by = _moves_by(a, key, at)
                least, peak, most = max(least, lag - by), max(peak, lag), max(most, lag + by)
    return max(round(most) - round(peak), round(peak) - round(least))


def _end_moves_by(a: Findings, s: Selection) -> float:
    """By how much redrawn lines may move the lag at the end of a window that ends before
    observation does.
    """
    if s.until_us is None or s.until_us >= a.horizon_us:
        return 0.0
    by = sum(_moves_by(a, key, s.until_us) for key in selected_keys(a, s))
    return round(by) + 1 if by > 0 else 0.0


def _is_catching_up_near(a: Findings, s: Selection, room: float) -> bool:
    limit = (measure(a, "time_to_catch_up", s) or 0.0) - room
    for p in selected_pauses(a, s):
        took = a.lag_book.catch_up_of(p)
        if took is not None and abs(took - limit) <= _moves_in_time_by(a, p, p.ended_us + took):
            return True
    return False


def _cut_short(a: Findings, key: Key, at_us: int) -> tuple[int, float] | None:
    """The last corner before the end, where the instant lies on the line from there."""
    corners = a.lag_book.corners.get(key, ())
    place = bisect_left(corners, a.horizon_us, key=lambda c: c[0]) - 1
    return corners[place] if place >= 0 and corners[place][0] < at_us else None


def _moves_by(a: Findings, key: Key, at_us: int) -> float:
    """How far a partition's lag at the instant may be from where it is drawn: the line's end by
    as much as it fell or rose and a second's arrivals, and the instant by its share of that.
    """
    corner = _cut_short(a, key, at_us)
    if corner is None:
        return 0.0
    share = (at_us - corner[0]) / (a.horizon_us - corner[0])
    return share * (abs(lag_at(a, key, a.horizon_us) - corner[1]) + usual(a, key))


def _moves_in_time_by(a: Findings, p: Pause, at_us: int) -> float:
    """How far the instant at which lag was back may be from where its line says so: as far as the
    lag there may move, along the line's fall.
    """
    key = (p.group, p.partition)
    corner = _cut_short(a, key, at_us)
    if corner is None or at_us <= p.ended_us:
        return 0.0
    fall = abs(lag_at(a, key, a.horizon_us) - corner[1]) / (a.horizon_us - corner[0])
    return _moves_by(a, key, at_us) / fall if fall > 0 else 0.0
