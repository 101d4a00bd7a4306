"""What of the script is written above a timeline, and what comes first where there is no room
for all.
"""

from __future__ import annotations

from collections.abc import Iterable

from rebalsim.analysis.values import Mark
from rebalsim.domain.mark_kind import MarkKind


def ranked(marks: Iterable[Mark]) -> list[tuple[Mark, int]]:
    """The script's actions, topics and brokers with their ranks, 0 first: a deploy's second
    restart says less than whatever else was done, and brokers say least. A topic or broker that
    changed at the very instant of an action is told by that.
    """
    found = list(marks)
    acted = {m.at_us for m in found if m.kind is MarkKind.ACTION}
    seen: dict[str, int] = {}
    told = []
    for m in found:
        if m.kind is MarkKind.REBALANCE or (m.kind is not MarkKind.ACTION and m.at_us in acted):
            continue
        what = m.action or m.kind
        rank = seen.get(what, 0 if m.action else 1)
        seen[what] = rank + 1
        told.append((m, rank))
    return told
