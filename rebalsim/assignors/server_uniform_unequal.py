"""The broker's `uniform` for members that subscribe to different topics: fill up the lowest, then
level the highest.

1. Everybody keeps its previous target, as far as it still subscribes to it.
2. Topics with the most partitions per subscriber go first. Of each, the partitions that are
nobody's are poured onto its
   subscribers like water: the least loaded ones rise together, one partition each in turn, until
   they are level with the next.
3. Then, in the same order of topics and up to 16 times around: of each topic, partitions are taken
from its most loaded
   subscribers (who sink together) and poured onto the least loaded, until the two levels are one
   apart or nobody has any to give.

Loads count all topics, but partitions move only within their own; a chain of moves over two
topics is not looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalsim.assignors.server_target import ChangingTarget, ServerMember, Targets
from rebalsim.domain.java_hash import uuid_halves

MAX_ROUNDS = 16


def assign_unequal(topics: Mapping[str, int], walked: Sequence[ServerMember]) -> Targets:
    """The new target of every member; members come in hash order, and their index in it breaks
    ties of load.
    """
    pouring = Pouring(topics, walked)
    pouring.keep_targets()
    pouring.fill()
    pouring.level()
    return {
        member.member_id: member.target if changed is None else changed.result()
        for member, changed in zip(walked, pouring.changed)
    }


class Pouring:
    """Loads and owners by member index."""

    def __init__(self, topics: Mapping[str, int], walked: Sequence[ServerMember]) -> None:
        self.topics = topics
        self.members = walked
        self.load = [0] * len(walked)
        self.changed: list[ChangingTarget | None] = [None] * len(walked)
        self.subscribers: dict[str, list[int]] = {}
        for index, member in enumerate(walked):
            for topic in member.topics:
                self.subscribers.setdefault(topic, []).append(index)
        self.owners = {topic: [-1] * topics[topic] for topic in self.subscribers}
        self.order = sorted(
            self.subscribers,
            key=lambda t: (
                -topics[t] / len(self.subscribers[t]),
                len(self.subscribers[t]),
                uuid_halves(t),
            ),
        )

    def change(self, index: int) -> ChangingTarget:
        changed = self.changed[index]
        if changed is None:
            changed = self.changed[index] = ChangingTarget(self.members[index].target)
        return changed

    def keep_targets(self) -> None:
        """Step 1."""
        for index, member in enumerate(self.members):
            for topic, numbers in member.target.items():
                if topic in member.topics:
                    self.load[index] += len(numbers)
                    for number in numbers:
                        self.owners[topic][number] = index
                else:
                    self.change(index).drop(topic)

    def fill(self) -> None:
        """Step 2."""
        for topic in self.order:
            free = [number for number, owner in enumerate(self.owners[topic]) if owner < 0]
            if free:
                levels = Levels(self.load, self.subscribers[topic])
                for number in free:
                    self._give(topic, number, levels.lowest())

    def level(self) -> None:
        """Step 3. Ends early when a whole turn around the topics since the last one that changed
        brings nothing.
        """
        shared = [topic for topic in self.order if len(self.subscribers[topic]) >= 2]
        last = -1
        for _ in range(MAX_ROUNDS):
            for position, topic in enumerate(shared):
                if position == last:
                    return
                if self._level_topic(topic) or last == -1:
                    last = position

    def _level_topic(self, topic: str) -> bool:
        """Whether anything moved."""
        levels = Levels(self.load, self.subscribers[topic])
        if levels.spread() <= 1:
            return False
        stock: dict[int, list[int]] = {}  # owner → its partitions; it gives its last one first
        for number, owner in enumerate(self.owners[topic]):
            stock.setdefault(owner, []).append(number)
        moved = False
        while not levels.are_even():
            giver = levels.highest()
            while giver >= 0 and not stock.get(giver):
                levels.leave_out()
                giver = levels.highest()
            if giver < 0:
                break
            number = stock[giver].pop()
            receiver = levels.lowest()
            if levels.are_even():
                break
            self.change(giver).remove(topic, [number])
            self.load[giver] -= 1
            self._give(topic, number, receiver)
            moved = True
        return moved

    def _give(self, topic: str, number: int, index: int) -> None:
        subscribers = len(self.subscribers[topic])
        per_subscriber = (self.topics[topic] + subscribers - 1) // subscribers
        self.change(index).add(topic, number, int(per_subscriber / 0.75 + 1))
        self.owners[topic][number] = index
        self.load[index] += 1


class Levels:
    """The subscribers of one topic side by side, sorted by load: a low range that rises from the
    left, a high one that sinks from the right.

    All members of a range started at its level. Handing out goes once through the range, then
    the level changes by one and the range takes in the neighbours that are level with it now.
    """

    __slots__ = (
        "_high_end",
        "_high_level",
        "_high_start",
        "_load",
        "_low_end",
        "_low_level",
        "_members",
        "_next_high",
        "_next_low",
    )

    def __init__(self, load: list[int], members: Sequence[int]) -> None:
        self._load = load
        self._members = sorted(members, key=lambda index: (load[index], index))
        self._low_end = 0
        self._low_level = load[self._members[0]] - 1
        self._next_low = 0
        self._high_start = self._high_end = len(self._members)
        self._high_level = load[self._members[-1]] + 1
        self._next_high = len(self._members) - 1

    def spread(self) -> int:
        return self._load[self._members[-1]] - self._load[self._members[0]]

    def are_even(self) -> bool:
        return self._high_level - self._low_level <= 1

    def lowest(self) -> int:
        """The member that gets the next partition."""
        if self._next_low >= self._low_end:
            self._low_level += 1
            while (
                self._low_end < len(self._members)
                and self._load[self._members[self._low_end]] == self._low_level
            ):
                self._low_end += 1
            self._next_low = 0
        index = self._members[self._next_low]
        self._next_low += 1
        return index

    def highest(self) -> int:
        """The member that gives away the next partition; -1 if nobody is left."""
        if self._next_high < self._high_start:
            # all of the range left out: go on below it
            if self._high_end <= self._high_start and self._high_start > 0:
                self._high_level = self._load[self._members[self._high_start - 1]]
            else:
                self._high_level -= 1
            while (
                self._high_start > 0
                and self._load[self._members[self._high_start - 1]] == self._high_level
            ):
                self._high_start -= 1
            self._next_high = self._high_end - 1
        if self._next_high < 0:
            return -1
        index = self._members[self._next_high]
        self._next_high -= 1
        return index

    def leave_out(self) -> None:
        """The member that `highest` named last has nothing of this topic: out of the range
        with it.
        """
        at, end = self._next_high + 1, self._high_end - 1
        self._members[at], self._members[end] = self._members[end], self._members[at]
        self._high_end = end
