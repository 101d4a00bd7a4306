"""The sticky family's algorithm for groups in which all members subscribe to the same topics:
quotas.

P partitions over M members: everybody ends with lo = ⌊P/M⌋ or, E = P mod M of them, with hi = lo +
1. So:

1. Everybody keeps what it holds up to its quota, lowest partition numbers first. Of those that hold
hi or more the first E, in hash
   order of member ids, keep hi: names and seniority do not count.
2. What nobody keeps is free, in order of topic and number.
3. If racks matter, free partitions first go to members near them, within the quotas.
4. The rest is dealt round to members below lo, sorted by id, until they have lo; then one each to
members that may have one more.

A partition that somebody held and somebody else gets is noted: in a cooperative rebalance its
new owner has to wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from operator import itemgetter

from rebalsim.assignors.claim import Assignment, Claim
from rebalsim.assignors.claims_resolved import Resolved
from rebalsim.assignors.rack_awareness import RackInfo
from rebalsim.assignors.universe import Universe
from rebalsim.domain.ids import Partition

_by_number_then_topic = itemgetter(1, 0)


def assign_constrained(
    universe: Universe, members: Sequence[Claim], resolved: Resolved, racks: RackInfo
) -> tuple[Assignment, dict[Partition, str]]:
    """The assignment, and which partitions change hands with the member that gets them. Members
    come in hash order.
    """
    quotas = Quotas(universe, members, resolved, racks)
    quotas.keep_claims()
    free = quotas.free_partitions()
    if racks.active:
        free = quotas.deal_by_rack(free)
    quotas.deal_round(free)
    return quotas.given, quotas.transfers()


class Quotas:
    """Who has how much already, and who may still get something."""

    def __init__(
        self, universe: Universe, members: Sequence[Claim], resolved: Resolved, racks: RackInfo
    ) -> None:
        self.universe = universe
        self.resolved = resolved
        self.racks = racks
        self.low, self.extras = divmod(len(universe.partitions), len(members))
        self.high = self.low + 1 if self.extras else self.low
        self.with_extra = 0  # members that have more than low already
        self.under: list[str] = []  # members below low
        self.exact: list[str] = []  # members at low that may still get one more
        self.given: Assignment = {}
        self.lost: dict[Partition, str] = {}  # held by this member, which may not keep it
        # handed out, to whom; kept only if somebody lost something
        self.received: dict[Partition, str] = {}
        self.keeps_track = False

    def keep_claims(self) -> None:
        """Step 1."""
        contested = self.resolved.contested
        for member, held in self.resolved.held.items():
            if self.racks.active:
                self.lost.update((p, member) for p in held if self.racks.mismatch(member, p))
                held = [p for p in held if not self.racks.mismatch(member, p)]
            keep = sorted(held, key=_by_number_then_topic) if held else []
            if contested:
                keep = [p for p in keep if p not in contested]
            if len(keep) < self.low:
                self.under.append(member)
            else:
                limit = self.low
                if self.with_extra < self.extras:
                    if len(keep) >= self.high:
                        limit = self.high
                        self._count_extra()
                    else:
                        self.exact.append(member)
                self.lost.update(zip(keep[limit:], repeat(member)))
                del keep[limit:]
            self.given[member] = keep

    def _count_extra(self) -> None:
        """One more member has its extra partition. With the last extra gone nobody at low can
        get more.
        """
        self.with_extra += 1
        if self.with_extra == self.extras:
            self.exact.clear()

    def free_partitions(self) -> list[Partition]:
        """Step 2. If racks matter, partitions that fewer members have nearby come first."""
        self.keeps_track = bool(self.lost or self.resolved.contested)
        kept = set(chain.from_iterable(self.given.values()))
        free = (
            [p for p in self.universe.partitions if p not in kept]
            if kept
            else self.universe.partitions
        )
        self.under.sort()
        self.exact.sort()
        return sorted(free, key=self.racks.weight.__getitem__) if self.racks.active else free

    def deal_by_rack(self, free: list[Partition]) -> list[Partition]:
        """Step 3. Returns what found no taker nearby."""
        remaining = []
        cursor = 0
        for partition in free:
            at = self.racks.next_local(partition, self.under, cursor)
            if at >= 0:
                member = self.under[at]
                count = len(self.given[member]) + 1
                if count >= self.low:
                    del self.under[at]
                    if self.with_extra < self.extras:
                        self.exact.append(member)
                else:
                    at += 1
                cursor = at % len(self.under) if self.under else 0
            else:
                at = self.racks.next_local(partition, self.exact, 0)
                if at < 0:
                    remaining.append(partition)
                    continue
                member = self.exact[at]
                if len(self.given[member]) + 1 == self.high:
                    del self.exact[at]
                    self._count_extra()
            self._give(member, [partition])
        return remaining

    def deal_round(self, free: list[Partition]) -> None:
        """Step 4, several rounds at a time: until the next member reaches low, each gets every
        len(under)-th partition.
        """
        dealt = 0
        needs = {member: self.low - len(self.given[member]) for member in self.under}
        rounds = 0
        while self.under:
            upto = min(needs.values())
            block = free[dealt : dealt + (upto - rounds) * len(self.under)]
            step = len(self.under)
            for seat, member in enumerate(self.under):
                self._give(member, block[seat::step])
            dealt += len(block)
            rounds = upto
            self.exact += [member for member in self.under if needs[member] == upto]
            needs = {member: need for member, need in needs.items() if need > upto}
            self.under = list(needs)
        for member, partition in zip(self.exact, free[dealt:]):
            self._give(member, [partition])

    def _give(self, member: str, partitions: list[Partition]) -> None:
        self.given[member] += partitions
        if self.keeps_track:
            self.received.update(zip(partitions, repeat(member)))

    def transfers(self) -> dict[Partition, str]:
        """Partitions handed out that somebody else held, or that two claimed (whoever really has
        it must let go first).
        """
        contested = self.resolved.contested
        return {
            p: to for p, to in self.received.items() if p in contested or self.lost.get(p, to) != to
        }
