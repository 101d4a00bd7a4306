"""Which kind of group its coordinator kept, and when: while members of both protocols share a
group id, it is not the members that decide whether there are barriers, but what the group is at
that moment. It is one kind from one conversion to the next.
"""

from __future__ import annotations

from bisect import bisect_right

from rebalsim.analysis.index import NOTHING, Index
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.trigger import Trigger
from rebalsim.trace import events as ev

_CLASSIC = frozenset((KafkaGroupState.PREPARING_REBALANCE, KafkaGroupState.COMPLETING_REBALANCE))
_CONSUMER = frozenset((KafkaGroupState.ASSIGNING, KafkaGroupState.RECONCILING))
_EMPTY = frozenset((KafkaGroupState.EMPTY, KafkaGroupState.DEAD))
NEVER_US = 1 << 62


class GroupTold:
    """What the coordinator told of a group over time: its kind, and when it had no members."""

    def __init__(self, index: Index, group: str) -> None:
        # (from, is it a consumer group), ascending; empty where nobody told
        self.kinds: list[tuple[int, bool]] = []
        self.states: list[tuple[int, str]] = []
        for number in index.by_group.get(group, NOTHING):
            e = index.events[number]
            kind = type(e)
            if kind is ev.GroupStateChanged:
                self.states.append((e.at_us, e.after))
                if e.after in _CLASSIC or e.after in _CONSUMER:
                    self._is(e.at_us, e.after in _CONSUMER)
                elif (
                    e.trigger == Trigger.REGROUPED and self.kinds
                ):  # converted with all its members: the other kind from here on
                    self._is(e.at_us, not self.kinds[-1][1])
            elif kind is ev.EpochBumped or kind is ev.BarrierCompleted:
                self._is(e.at_us, kind is ev.EpochBumped)
        self.told_us = [at for at, _ in self.states]

    def _is(self, at_us: int, is_consumer: bool) -> None:
        if not self.kinds or self.kinds[-1][1] is not is_consumer:
            self.kinds.append((at_us, is_consumer))

    def within(self, from_us: int, until_us: int) -> list[tuple[int, bool]]:
        """The kinds during that time, the first from its beginning; a group is from the start
        what it is first seen to be.
        """
        place = max(0, bisect_right(self.kinds, from_us, key=lambda k: k[0]) - 1)
        found: list[tuple[int, bool]] = []
        for at, is_consumer in self.kinds[place:]:
            if at >= until_us and found:
                break
            if found and at <= found[-1][0]:
                found.pop()
            found.append((max(at, from_us) if found else from_us, is_consumer))
        return found

    def is_consumer(self, at_us: int) -> bool:
        """Whether it was a consumer group then; not, where nobody told."""
        return any(is_consumer for _, is_consumer in self.within(at_us, at_us + 1))

    def is_empty(self, at_us: int) -> bool:
        """Whether it had no members then."""
        place = bisect_right(self.told_us, at_us)
        return place > 0 and self.states[place - 1][1] in _EMPTY

    def stands_until(self, at_us: int) -> int:
        """When its next state was told; far away, where none was."""
        place = bisect_right(self.told_us, at_us)
        return self.told_us[place] if place < len(self.told_us) else NEVER_US

    def empty_within(self, from_us: int, until_us: int) -> list[tuple[int, int]]:
        """When it had no members during that time, as (from, until)."""
        found: list[tuple[int, int]] = []
        place = max(0, bisect_right(self.told_us, from_us) - 1)
        for here in range(place, len(self.states)):
            at, state = self.states[here]
            if at >= until_us:
                break
            ended = self.states[here + 1][0] if here + 1 < len(self.states) else until_us
            if state in _EMPTY and min(ended, until_us) > max(at, from_us):
                found.append((max(at, from_us), min(ended, until_us)))
        return found
