"""Whether lag is on its way somewhere when observation ends: records that wait, more of them than
before, or members that never get to the end of what is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.analysis.findings import Findings
from rebalsim.domain.ids import Partition
from rebalsim.domain.instants import MINUTE, SECOND

BACK_US = (
    SECOND,
    10 * SECOND,
    MINUTE,
)  # lag rises where it is higher than at each of these times before
NEAR = 0.5
Keys = Sequence[tuple[str, Partition]]


def waiting(a: Findings, keys: Keys) -> list[tuple[str, Partition]]:
    """Partitions with more unhandled records at the end than a second brings."""
    return [key for key in keys if lag_at(a, key, a.horizon_us) > usual(a, key)]


def rising(a: Findings, keys: Keys) -> bool:
    """Whether what waits was more at the end than shortly before, or is near its highest still."""
    late = waiting(a, keys)
    if not late:
        return False
    now = sum(lag_at(a, key, a.horizon_us) for key in late)
    if now >= NEAR * max((lag for _, lag in a.lag_book.total(keys)), default=0.0):
        return True
    before = [a.horizon_us - back for back in BACK_US if back < a.horizon_us]
    return not before or any(now > sum(lag_at(a, key, at) for key in late) for at in before)


def grows_beneath(a: Findings, keys: Keys, since_us: int) -> bool:
    """Whether the least lag of some member has risen from the first half of this time to the
    second. Lag sways from batch to batch; where even the least of it rises, more comes in than is
    handled.
    """
    owned: dict[str, list[tuple[str, Partition]]] = {}
    for key in keys:
        if held := a.holdings.get(key):
            owned.setdefault(held[-1].consumer, []).append(key)
    middle_us = (since_us + a.horizon_us) // 2
    for mine in owned.values():
        lags = [(at, lag) for at, lag in a.lag_book.total(mine) if at >= since_us]
        early = [lag for at, lag in lags if at < middle_us]
        late = [lag for at, lag in lags if at >= middle_us]
        if early and late and min(late) > min(early) + len(mine):
            return True
    return False


def lag_at(a: Findings, key: tuple[str, Partition], at_us: int) -> float:
    return a.lag_book.at(*key, at_us) or 0.0


def usual(a: Findings, key: tuple[str, Partition]) -> float:
    """How many records are on their way at any time: those of a second."""
    arrivals = a.lag_book.arrivals_of(key[1])
    return max(arrivals.rate(a.horizon_us) * 1e6 if arrivals is not None else 0.0, 1.0)
