"""Lag and the age of records, as a fluid: from the corners that the simulation marks, or, in
recordings, from the ages of what was delivered.

Between corners lag runs straight. A record's age when it was handled is the horizontal distance
between what had arrived and what was handled.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from rebalsim.analysis.arrivals import Arrivals
from rebalsim.analysis.values import LagCurve, Pause
from rebalsim.domain.ids import Partition
from rebalsim.trace import events as ev
from rebalsim.trace.trace import TopicFacts, Trace

Curves = dict[tuple[str, Partition], list[tuple[int, float]]]
Ages = dict[int, float]  # age in µs, in steps of STEP_US → records
PIECES = 8  # a stretch between two corners is weighed in so many pieces
STEP_US = 1_000


class LagBook:
    """Everything about lag of one trace; empty curves where nothing is known."""

    def __init__(self, trace: Trace, horizon_us: int, only_group: str) -> None:
        self.horizon_us = horizon_us
        self.topics: Mapping[str, TopicFacts] = trace.header.topics
        self.arrivals: dict[Partition, Arrivals] = {}
        self.corners: Curves = {}
        # recordings: oldest, youngest, records
        self.delivered: dict[tuple[str, Partition], list[tuple[float, float, float]]] = {}
        # lines that were run on to the end alone: what was handled meanwhile is not known to be done
        self._half_way: dict[tuple[str, Partition], None] = {}
        self.is_marked = self._marked(trace)
        if not self.is_marked:
            self._delivered(trace, only_group)

    def arrivals_of(self, p: Partition) -> Arrivals | None:
        """The partition's arrivals; None where the rate is unknown."""
        facts = self.topics.get(p.topic)
        if facts is None or facts.rates is None:
            return None
        found = self.arrivals.get(p)
        if found is None:
            found = self.arrivals[p] = Arrivals(facts, p)
        return found

    def _marked(self, trace: Trace) -> bool:
        corners, horizon = self.corners, self.horizon_us
        beyond: dict[tuple[str, Partition], tuple[int, float]] = {}
        for e in trace.events:
            if type(e) is ev.LagMarked:
                key = (e.group, e.partition)
                if e.at_us > horizon:
                    beyond.setdefault(key, (e.at_us, float(e.records)))
                    continue
                found = corners.get(key)
                if found is None:
                    found = corners[key] = []
                found.append((e.at_us, float(e.records)))
        for key, then in beyond.items():
            if (curve := corners.get(key)) and curve[-1][0] < horizon:
                # the simulation marks where it ends; a part of what it told ends on the way
                curve.append((horizon, _value([curve[-1], then], horizon) or 0.0))
                self._half_way[key] = None
        return bool(corners)

    def _delivered(self, trace: Trace, group: str) -> None:
        """Recordings: the oldest record's age tells how many had piled up at each delivery; what
        a delivery left shows in the next one's age.
        """
        for e in trace.events:
            if type(e) is not ev.RecordsDelivered or e.at_us >= self.horizon_us:
                continue
            facts = trace.header.consumers.get(e.consumer)
            for p, (first, last, age) in e.batch.items():
                arrivals = self.arrivals_of(p)
                if age < 0 or arrivals is None or not any(arrivals.rates):
                    continue
                rate = arrivals.rate(e.at_us)
                count = last - first + 1
                key = (facts.group if facts is not None else group, p)
                curve = self.corners.setdefault(key, [])
                curve.append((e.at_us, rate * age))
                curve.append((e.at_us, max(0.0, rate * age - count)))
                youngest = max(0.0, age - (count - 1) / rate) if rate > 0 else float(age)
                self.delivered.setdefault(key, []).append((float(age), youngest, float(count)))

    def _weigh(self, key: tuple[str, Partition], ages: Ages) -> None:
        """The fluid: between two corners records are handled evenly, their ages running straight
        from the one to the other.
        """
        arrivals, corners = self.arrivals_of(key[1]), self.corners.get(key)
        if arrivals is None or not corners:
            return
        waited = corners[0][1] - arrivals.count(corners[0][0])  # what was there before the start
        handled_before, age_before = None, 0.0
        for at, lag in corners[:-1] if key in self._half_way else corners:
            handled = arrivals.count(at) + waited - lag
            age = at - arrivals.instant(handled - waited, at) if lag > 0 else 0.0
            if handled_before is not None and handled > handled_before:
                _add_ages(ages, age_before, age, handled - handled_before)
            handled_before, age_before = handled, age

    # ------------------------------------------------------------------------------------ questions

    def ages(self, keys: Sequence[tuple[str, Partition]]) -> list[tuple[int, float]]:
        """How old records were when they were handed over: (age, records), oldest last."""
        ages: Ages = {}
        for key in keys:
            if self.is_marked:
                self._weigh(key, ages)
            else:
                for oldest, youngest, records in self.delivered.get(key, ()):
                    _add_ages(ages, oldest, youngest, records)
        return sorted(ages.items())

    def at(self, group: str, p: Partition, at_us: int) -> float | None:
        """Lag at that instant, on the straight line between corners."""
        corners = self.corners.get((group, p))
        if not corners:
            return None
        return _value(corners, at_us)

    def total(self, keys: Sequence[tuple[str, Partition]]) -> list[tuple[int, float]]:
        """The sum of several curves, at each of their corners."""
        instants = sorted({at: None for key in keys for at, _ in self.corners.get(key, ())})
        if not instants:
            return []
        sums = [0.0] * len(instants)
        place_of = {at: place for place, at in enumerate(instants)}
        slopes = [0.0] * (len(instants) + 1)
        jumps = [0.0] * (len(instants) + 1)
        for key in keys:
            corners = self.corners.get(key, ())
            before: tuple[int, float] | None = None
            for at, lag in corners:
                place = place_of[at]
                if before is None:
                    jumps[place] += lag
                elif at > before[0]:
                    slope = (lag - before[1]) / (at - before[0])
                    slopes[place_of[before[0]]] += slope
                    slopes[place] -= slope
                else:
                    jumps[place] += lag - before[1]
                before = (at, lag)
        value = slope = 0.0
        for place, at in enumerate(instants):
            if place:
                value += slope * (at - instants[place - 1])
            # a fall at this instant: the value before it counts
            peak_here = max(value, value + jumps[place])
            value += jumps[place]
            slope += slopes[place]
            sums[place] = peak_here
        return list(zip(instants, sums))

    def caught_up(self, group: str, p: Partition, from_us: int, threshold: float) -> int:
        """The first instant from there on at which lag is no higher; −1 if that is not within
        the horizon or unknown.
        """
        corners = self.corners.get((group, p))
        if not corners:
            return -1
        value = _value(corners, from_us)
        if value is not None and value <= threshold:
            return from_us
        before = (from_us, value if value is not None else corners[0][1])
        for at, lag in corners[bisect_right(corners, from_us, key=lambda c: c[0]) :]:
            if lag <= threshold:
                if before[1] <= threshold or at <= before[0] or before[1] == lag:
                    return at
                return round(
                    before[0] + (at - before[0]) * (before[1] - threshold) / (before[1] - lag)
                )
            before = (at, lag)
        return -1

    def catch_up_of(self, pause: Pause) -> int | None:
        """From a pause's end until lag was back at what it was before (or below a second's
        arrivals); so far, if it was not by the horizon.
        """
        if pause.is_open or not self.corners.get((pause.group, pause.partition)):
            return None
        caught = self._caught_up_after(pause)
        return (caught if caught >= 0 else self.horizon_us) - pause.ended_us

    def is_behind(self, pause: Pause) -> bool:
        """Whether lag had not come back by the horizon to what it was before the pause."""
        return bool(
            not pause.is_open
            and self.corners.get((pause.group, pause.partition))
            and self._caught_up_after(pause) < 0
        )

    def _caught_up_after(self, pause: Pause) -> int:
        corners = self.corners[pause.group, pause.partition]
        arrivals = self.arrivals_of(pause.partition)
        second = arrivals.rate(pause.ended_us) * 1e6 if arrivals is not None else 0.0
        before = _value(corners, pause.started_us) or 0.0
        return self.caught_up(
            pause.group, pause.partition, pause.ended_us, max(before, second, 1.0)
        )

    def curves(self) -> list[LagCurve]:
        """Every partition's curve, by group and partition."""
        found = []
        for (group, p), corners in sorted(self.corners.items()):
            peak_us, peak = max(corners, key=lambda c: (c[1], -c[0]))
            arrivals = self.arrivals_of(p)
            second = arrivals.rate(peak_us) * 1e6 if arrivals is not None else 1.0
            caught = self.caught_up(group, p, peak_us, max(second, 1.0))
            found.append(LagCurve(p, group, tuple(corners), peak, peak_us, caught))
        return found


def _add_ages(ages: Ages, first: float, last: float, records: float) -> None:
    """So many records, their ages running straight from the first's to the last's; each piece
    counts as old as its oldest.
    """
    pieces = PIECES if abs(first - last) > STEP_US and records > 1 else 1
    for piece in range(pieces):
        oldest = max(
            first + (last - first) * piece / pieces, first + (last - first) * (piece + 1) / pieces
        )
        age = int(oldest) // STEP_US * STEP_US
        ages[age] = ages.get(age, 0.0) + records / pieces


def age_percentile(ages: Sequence[tuple[int, float]], percent: float) -> int | None:
    """The age below or at which that share of the records was handed over; None if nothing is
    known.
    """
    total = sum(weight for _, weight in ages)
    reached = 0.0
    for age, weight in ages:
        reached += weight
        if reached >= total * percent / 100 - 1e-9:
            return age
    return None


def _value(corners: Sequence[tuple[int, float]], at_us: int) -> float | None:
    """On the line; of two corners at one instant the later one counts. Before the first corner
    it is that one's.
    """
    place = bisect_right(corners, at_us, key=lambda c: c[0])
    if place == 0:
        return corners[0][1]
    if place == len(corners) or corners[place - 1][0] == at_us:
        return corners[place - 1][1]
    (t0, v0), (t1, v1) = corners[place - 1], corners[place]
    return v0 + (v1 - v0) * (at_us - t0) / (t1 - t0)


def peak_within(corners: Sequence[tuple[int, float]], from_us: int, until_us: int) -> float:
    """The highest lag within an interval."""
    first = bisect_left(corners, from_us, key=lambda c: c[0])
    inside = [
        lag for at, lag in corners[first : bisect_right(corners, until_us, key=lambda c: c[0])]
    ]
    edges = (
        [_value(corners, from_us) or 0.0, _value(corners, until_us) or 0.0] if corners else [0.0]
    )
    return max(inside + edges)
