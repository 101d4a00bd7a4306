"""From a trigger to a stable group: which rounds belong together, and how many partitions moved
against the least that had to.

A round that made members give partitions up while the group went on is not the end of it: the
next one hands them on. Rounds that overlap, or that never became stable, belong to the same
disturbance too.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Disturbance, Rebalance
from rebalsim.domain.callback import Callback
from rebalsim.domain.ids import Partition
from rebalsim.domain.trigger import Trigger
from rebalsim.trace import events as ev


def find_disturbances(rounds: Sequence[Rebalance], index: Index) -> list[Disturbance]:
    """The disturbances of one group's rounds, in order; each round is told which it belongs to."""
    found: list[Disturbance] = []
    before: Rebalance | None = None
    for r in rounds:
        last = found[-1] if found else None
        if last is None or not (
            _continues(last, r) or (len(found) == 1 and _comes_while_it_forms(before, r))
        ):
            found.append(
                Disturbance(
                    r.group,
                    r.prepared_us,
                    index.horizon_us,
                    True,
                    r.trigger,
                    r.trigger_consumer,
                    "",
                    (),
                    0,
                    0,
                    (),
                )
            )
        d = found[-1]
        d.evidence += r.evidence
        d.is_open = r.stable_us < 0 or (r.is_cooperative and not r.is_of_epochs)
        d.ended_us = index.horizon_us if d.is_open else max(r.stable_us, d.started_us)
        r.disturbance = len(found) - 1
        before = r
    if found:
        _count_moves(found, rounds, index)
    return found


def _continues(last: Disturbance, r: Rebalance) -> bool:
    return last.is_open or r.prepared_us <= last.ended_us


def _comes_while_it_forms(before: Rebalance | None, r: Rebalance) -> bool:
    """Under the consumer protocol a group counts as stable as soon as its first member has been
    answered. Whoever comes before that one has taken its partitions came together with it, and
    who of them was the first is chance.
    """
    return (
        before is not None
        and r.trigger is Trigger.JOINED
        and r.is_of_epochs
        and before.is_of_epochs
        and r.prepared_us <= before.settled_us
    )


def _count_moves(found: list[Disturbance], rounds: Sequence[Rebalance], index: Index) -> None:
    """Who held what when each disturbance began, against when the next one did."""
    events, group = index.events, found[0].group
    owner: dict[Partition, str] = {}
    before: dict[Partition, str] = {}  # owners when the window began, of what was touched since
    by_disturbance: dict[int, list[Rebalance]] = {}
    for r in rounds:
        by_disturbance.setdefault(r.disturbance, []).append(r)
    current = -1
    handings = [e for e in map(events.__getitem__, index.handings) if type(e) is ev.CallbackBegan]
    for e in handings:
        if index.group_of[e.consumer] != group:
            continue
        while current + 1 < len(found) and e.at_us >= found[current + 1].started_us:
            _weigh(found, current, owner, before, by_disturbance)
            current, before = current + 1, {}
        for p in e.partitions:
            before.setdefault(p, owner.get(p, ""))
            if e.callback == Callback.ASSIGNED:
                owner[p] = e.consumer
    while current < len(found):
        _weigh(found, current, owner, before, by_disturbance)
        current, before = current + 1, {}


def _weigh(
    found: list[Disturbance],
    current: int,
    owner: dict[Partition, str],
    before: dict[Partition, str],
    rounds: dict[int, list[Rebalance]],
) -> None:
    if current < 0:
        return
    d = found[current]
    d.moved = sum(1 for p, was in before.items() if was and owner[p] != was)
    mine = rounds.get(current, [])
    told = [r.least for r in mine]
    d.least = max(told) if told and min(told) >= 0 else _least(owner, before, mine)


def _least(owner: dict[Partition, str], before: dict[Partition, str], mine: list[Rebalance]) -> int:
    """How many had to move for an even spread over those who were there afterwards, every
    partition weighing the same.
    """
    then: dict[str, int] = {}
    now: dict[str, int] = {}
    for p, holder in owner.items():
        now[holder] = now.get(holder, 0) + 1
        was = before.get(p, holder)
        if was:
            then[was] = then.get(was, 0) + 1
    there = {**{c: 0 for r in mine[-1:] for c in r.joins}, **now}
    if not there:
        return 0
    total = sum(now.values())
    quota, more = divmod(total, len(there))
    kept = 0
    for count in sorted((then.get(c, 0) for c in there), reverse=True):
        cap = quota + 1 if more > 0 else quota
        if count > quota and more > 0:
            more -= 1
        kept += min(count, cap)
    return sum(then.values()) - kept
