"""When beats and periodic commits leave in quiet time: each an interval after the last, and as much
later as it takes somebody to notice.

An application in poll() notices so much later; one that is busy then with its next poll(), or the
heartbeat thread at its next look by itself. A thread of the client's own is never late.
"""

from __future__ import annotations

from rebalsim.quiet.timeline import Moment, Timeline
from rebalsim.simulation.standing import APP, BEAT, NEVER, Standing

FEW = 6  # so many one by one, before it is asked whether they come round
MANY = 512  # so many are looked at for that
LAST = 3  # what is told of them

Tick = tuple[int, int]  # when one left, and under which rank


class Clock:
    """Beats, or commits, one after the other."""

    __slots__ = ("_looks_us", "_rank", "_timeline", "_waits_us", "due_us", "interval_us", "late_us")

    def __init__(self, standing: Standing, timeline: Timeline | None, *, is_beat: bool) -> None:
        self.due_us = standing.beat_due_us if is_beat else standing.commit_due_us
        self.interval_us = standing.interval_us if is_beat else standing.commit_interval_us
        self.late_us = standing.beat_late_us if is_beat else standing.commit_late_us
        own = is_beat or standing.is_threaded
        self._rank = standing.first_rank + (BEAT if own else APP)
        minds = timeline is not None and timeline.takes_time and not standing.is_threaded
        self._timeline = timeline if minds else None
        # of beats: the looks that the heartbeat thread takes by itself, from the last one on
        self._looks_us = standing.looked_us if is_beat else -1
        self._waits_us = standing.tick_us

    def up_to(self, moment: Moment) -> list[Tick]:
        """The last ones that left before this moment."""
        if self.due_us + self.late_us > moment[0]:
            return []
        if self._timeline is None:
            return self._in_step(moment)
        found: list[Tick] = []
        if (moment[0] - self.due_us) // max(1, self.interval_us) > FEW:
            self._leap(moment)
        free_at, interval, late = self._timeline.free_at, self.interval_us, self.late_us
        usual = self._rank
        while True:
            noticed = self.due_us + late
            tick = (noticed, usual)
            if noticed > moment[0]:
                return found[-LAST:]
            free = free_at(noticed)
            if free >= 0:
                tick = self._while_busy(noticed, free)
            if tick >= moment:
                return found[-LAST:]
            found.append(tick)
            self.due_us = tick[0] + interval
            if self._looks_us >= 0:
                self._looks_us = tick[0]

    def _in_step(self, moment: Moment) -> list[Tick]:
        """Nobody is ever busy: all are as far apart."""
        period = self.interval_us + self.late_us
        noticed = self.due_us + self.late_us
        times = (moment[0] - noticed) // period
        if (noticed + times * period, self._rank) >= moment:
            times -= 1
        if times < 0:
            return []
        self.due_us += (times + 1) * period
        last = noticed + times * period
        few = range(min(times, LAST - 1), -1, -1)
        if self._looks_us >= 0:
            self._looks_us = last
        return [(last - back * period, self._rank) for back in few]

    def _while_busy(self, noticed_us: int, free_us: int) -> Tick:
        """It would have been noticed in the middle of a batch that ends at `free_us`."""
        if self._looks_us < 0:
            return free_us, self._rank
        late = max(0, -((self._looks_us - self.due_us) // self._waits_us))
        look = self._looks_us + late * self._waits_us
        if look <= noticed_us:
            return noticed_us, self._rank
        return (look, self._rank) if look < free_us else (free_us, self._rank - BEAT + APP)

    def _leap(self, moment: Moment) -> None:
        """Over as many as come round in the same way; the last ones are left to be told."""
        timeline = self._timeline
        assert timeline is not None
        around, step = timeline.period_us(), self.interval_us + self.late_us
        if not around:
            return
        last = moment[0] - (LAST + 1) * (step + timeline.longest_us)
        seen: dict[int, int] = {}
        for _ in range(MANY):
            noticed = self.due_us + self.late_us
            unhindered = timeline.finds_free(noticed, step, (last - noticed) // step)
            if unhindered:
                self._take(noticed + (unhindered - 1) * step)
                noticed = self.due_us + self.late_us
            if noticed > last:
                return
            free = timeline.free_at(noticed)
            self._take(noticed if free < 0 else self._while_busy(noticed, free)[0])
            ticked = self.due_us - self.interval_us
            phase = ticked % around
            span = ticked - seen.setdefault(phase, ticked)
            if span:
                self._take(ticked + max(0, (last - ticked) // span) * span)

    def _take(self, at_us: int) -> None:
        self.due_us = at_us + self.interval_us
        if self._looks_us >= 0:
            self._looks_us = at_us


__all__ = ["NEVER", "Clock", "Tick"]
