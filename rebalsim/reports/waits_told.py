"""How a wait ended: the timer, or the moment, and how somebody heard."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.timer import Timer
from rebalsim.reports.doings_told import once_over
from rebalsim.words.times import say_instant

_RAN_OUT = {
    Timer.SESSION: "its session ran out",
    Timer.POLL: "max.poll.interval.ms ran out",
    Timer.HEARTBEAT: "its heartbeat",
    Timer.REBALANCE_TIMEOUT: "the rebalance timeout was over",
}


def until(f: Facts, ending: str = "") -> str:
    """What ended it, and when; nothing, where the phase was over before that."""
    if f.until_us < 0:
        return ""
    said = ending or _RAN_OUT.get(f.timer, "")
    return (
        f" until {said} at {say_instant(f.until_us)}"
        if said
        else f" until {say_instant(f.until_us)}"
    )


def heard(f: Facts) -> str:
    """How and when: at its heartbeat, which comes whatever the application does, or in an answer
    to what only its poll could send.
    """
    at = f" at {say_instant(f.until_us)}" if f.consumer and f.until_us >= 0 else ""
    if f.timer or not f.consumer:
        return f" at its heartbeat{at}"
    over = once_over(f.doing)
    return f", when it {over}{at}" if over else at
