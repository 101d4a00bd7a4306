"""A replay's pauses as logs would have told them: from a listener's call, a death or a stall that the
group came to know of, to the next listener's call. What a log does not tell (the first records'
arrival) is left out, so that like is held against like.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebalsim.domain.life_end import LifeEnd
from rebalsim.domain.membership import Removal
from rebalsim.trace import events as ev
from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.pauses import Pause, pauses_of
from rebalsim.worlds.logs.stops import Stop, StopKind
from rebalsim.worlds.logs.streams import Stream
from rebalsim.worlds.logs.voices import Voice

_NOTICED_BY = (
    Removal.SESSION_EXPIRED,
    Removal.REBALANCE_TIMEOUT,
    Removal.NOT_REJOINED,
    Removal.NOT_SYNCED,
)


def pauses_as_logged(events: Sequence[Any], group: str) -> list[Pause]:
    """Every pause of the trace, ordered by beginnings; instants are the trace's."""
    book = _Book(group)
    for e in events:
        handler = book.handlers.get(type(e))
        if handler is not None:
            handler(e)
    return pauses_of(list(book.voices.values()), book.stops, [], book.voices.get)


class _Book:
    """Listeners' calls, and stops that the group noticed, as a trace tells them."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.voices: dict[str, Voice] = {}
        self.stops: list[Stop] = []
        self.frozen: dict[str, int] = {}
        self.stuck: dict[str, int] = {}
        self.handlers: dict[type, Any] = {
            ev.CallbackBegan: self._called,
            ev.ConsumerExited: self._gone,
            ev.ConsumerFroze: self._froze,
            ev.ConsumerThawed: self._thawed,
            ev.HandlerStuck: self._hung,
            ev.HandlerReturned: self._returned,
            ev.PollExpired: self._expired,
            ev.MemberRemoved: self._removed,
        }

    def _voice(self, name: str) -> Voice:
        if name not in self.voices:
            self.voices[name] = Voice(Stream(name, name), name, self.group, [], name=name)
        return self.voices[name]

    def _called(self, e: ev.CallbackBegan) -> None:
        names = tuple(f"{p.topic}-{p.number}" for p in e.partitions)
        self._voice(e.consumer).facts.append(Fact(e.at_us, FactKind(e.callback), partitions=names))

    def _gone(self, e: ev.ConsumerExited) -> None:
        how = StopKind.KILLED if e.how == LifeEnd.KILLED else StopKind.DIED
        self.stops.append(Stop(e.at_us, self._voice(e.consumer), how, e.at_us, False))
        self._thawed(e)
        self._returned(e)

    def _froze(self, e: ev.ConsumerFroze) -> None:
        self.frozen[e.consumer] = e.at_us

    def _thawed(self, e: Any) -> None:
        self.frozen.pop(e.consumer, None)

    def _hung(self, e: ev.HandlerStuck) -> None:
        self.stuck[e.consumer] = e.at_us

    def _returned(self, e: Any) -> None:
        self.stuck.pop(e.consumer, None)

    def _expired(self, e: ev.PollExpired) -> None:
        since = e.last_poll_us if e.last_poll_us >= 0 else self.stuck.get(e.consumer, e.at_us)
        self._noticed(e.consumer, since, StopKind.HUNG, e.at_us)

    def _removed(self, e: ev.MemberRemoved) -> None:
        if e.why not in _NOTICED_BY:
            return
        for since, how in ((self.frozen, StopKind.FROZEN), (self.stuck, StopKind.HUNG)):
            if e.consumer in since:
                self._noticed(e.consumer, since.pop(e.consumer), how, e.at_us)

    def _noticed(self, consumer: str, since_us: int, how: StopKind, at_us: int) -> None:
        self.stops.append(Stop(since_us, self._voice(consumer), how, at_us, True))
