"""Who had a place in a classic group by the coordinator's own word, and whose process had ended
meanwhile: a dead process keeps its place, may be given partitions and may even lead, while
another of the same name runs beside it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from rebalsim.analysis.index import NOTHING, Index, merged
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.life_end import LifeEnd
from rebalsim.domain.membership import Arrival
from rebalsim.trace import events as ev


@dataclass(slots=True)
class Place:
    """One member id's time in the group."""

    consumer: str
    member_id: str
    from_us: int
    until_us: int  # when it was removed; after the horizon if it was not
    exited_us: int = -1  # when its process ended, if it did before that …
    exit_event: int = -1
    is_closed: bool = False  # … in order
    joined_us: int = -1  # when it came by this id; before `from_us` where another broker loaded it


class Memberships:
    """All places of one group, in order; none where no coordinator tells."""

    def __init__(self, index: Index, group: str) -> None:
        self.all: list[Place] = []
        self._horizon_us = index.horizon_us
        self._by_id: dict[str, Place] = {}
        self._open: dict[str, Place] = {}
        exits = array(
            "i",
            [
                n
                for n in index.handings
                if type(index.events[n]) is ev.ConsumerExited
                and index.group_of[index.events[n].consumer] == group
            ],
        )
        for number in merged([index.by_group.get(group, NOTHING), exits]):
            e = index.events[number]
            kind = type(e)
            if kind is ev.MemberAdded:
                self._added(e)
            elif kind is ev.MemberRemoved:
                if e.member_id in self._open:
                    self._open.pop(e.member_id).until_us = e.at_us
            elif kind is ev.ConsumerExited:
                self._exited(e, number)
            elif kind is ev.GroupStateChanged and e.after == KafkaGroupState.DEAD:
                # the broker forgets it; who is still a member is loaded by another
                for place in self._open.values():
                    place.until_us = e.at_us
                self._open = {}

    def _added(self, e: ev.MemberAdded) -> None:
        if e.how == Arrival.PENDING or e.member_id in self._open:
            return
        was = self._by_id.get(e.member_id) if e.how == Arrival.LOADED else None
        place = Place(e.consumer, e.member_id, e.at_us, self._horizon_us + 1)
        place.joined_us = e.at_us
        if was is not None:
            place.joined_us, place.exited_us = was.joined_us, was.exited_us
            place.exit_event, place.is_closed = was.exit_event, was.is_closed
        self._open[e.member_id] = self._by_id[e.member_id] = place
        self.all.append(place)

    def _exited(self, e: ev.ConsumerExited, number: int) -> None:
        for place in self._open.values():
            if place.consumer == e.consumer and place.exited_us < 0:
                place.exited_us, place.exit_event = e.at_us, number
                place.is_closed = e.how == LifeEnd.CLOSED

    def of(self, member_id: str) -> Place | None:
        """The last place of this id."""
        return self._by_id.get(member_id)

    def at_end(self) -> Iterator[Place]:
        """The places that nobody has lost when observation ends, in the order they were taken."""
        return (p for p in self.all if p.until_us > self._horizon_us)

    def dead_at(self, at_us: int) -> list[Place]:
        """Whose process had ended by then, though the group went on counting it."""
        return [
            p for p in self.all if p.from_us <= at_us < p.until_us and 0 <= p.exited_us <= at_us
        ]
