"""What one consumer's facts are as events: its lives, its listener's callbacks from begin to end, what
it heard and asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.domain.ids import MOST_PARTITIONS, Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.life_end import LifeEnd
from rebalsim.domain.noticed_by import NoticedBy
from rebalsim.domain.stuck_by import StuckBy
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.worlds.logs.facts import APPLICATION_GOES_ON, CALLS, OF_EPOCHS, Fact, FactKind
from rebalsim.worlds.logs.stops import Stop, StopKind
from rebalsim.worlds.logs.voices import Voice

# what a client prints only after a listener has returned, and soon after that
AFTER_REVOCATION = frozenset(
    (
        FactKind.ASKING,
        FactKind.LEAVING,
        FactKind.CLOSED,
        FactKind.JOINED,
        FactKind.NAMED,
        FactKind.RESET,
        FactKind.STATE,
    )
)
AFTER_ASSIGNMENT = frozenset((FactKind.POSITIONED, FactKind.STATE))
LONGEST_CALLBACK_US = 600_000_000


def partition_of(name: str) -> Partition:
    """`topic-3` as a partition; a connector's name has no number of its own."""
    topic, _, number = name.rpartition("-")
    if topic and number.isdigit() and len(number) < 7 and int(number) < MOST_PARTITIONS:
        return Partition(topic, int(number))
    return Partition(name, 0)


def voice_events(voice: Voice, stops: Sequence[Stop]) -> list[TraceEvent]:
    """All events of one consumer, ascending."""
    book = _Book(voice)
    waiting = sorted(stops, key=lambda s: s.at_us)
    for place, fact in enumerate(voice.facts):
        while waiting and waiting[0].at_us < fact.at_us:
            book.stop(waiting.pop(0))
        book.take(fact, place)
    for stop in waiting:
        book.stop(stop)
    book.out.sort(key=lambda e: e.at_us)
    return book.out


class _Book:
    """The events of one consumer as its facts come."""

    def __init__(self, voice: Voice) -> None:
        self.voice, self.name = voice, voice.name
        self.is_of_epochs = any(f.what in OF_EPOCHS for f in voice.facts)
        self.out: list[TraceEvent] = []
        self.life = 0
        self.is_gone = True
        self.halted: StopKind | None = None
        self.owned: dict[Partition, None] = {}

    def stop(self, stop: Stop) -> None:
        """It could deliver no more, though it called no listener."""
        if self.is_gone or self.halted:
            return
        if stop.how in (StopKind.KILLED, StopKind.DIED):
            self._exit(
                stop.at_us, LifeEnd.KILLED if stop.how == StopKind.KILLED else LifeEnd.CLOSED
            )
        elif stop.how == StopKind.FROZEN:
            self.halted = StopKind.FROZEN
            self.out.append(ev.ConsumerFroze(stop.at_us, self.name))
        else:
            self.halted = StopKind.HUNG
            held = tuple(sorted(self.owned))
            self.out.append(ev.HandlerStuck(stop.at_us, self.name, StuckBy.HANG, held))

    def take(self, f: Fact, place: int) -> None:
        if f.what == FactKind.STARTED or (
            self.is_gone and f.what not in (FactKind.CLOSED, FactKind.SPOKE, FactKind.VERSION)
        ):
            self._begin(f.at_us)
        if self.is_gone:
            return
        self._wake(f)
        handler = getattr(self, f"on_{f.what.replace('-', '_')}", None)
        if handler is not None:
            handler(f, place)

    def _begin(self, at: int) -> None:
        if not self.is_gone:
            self._exit(at, LifeEnd.KILLED)
        self.life += 1
        self.is_gone = False
        self.out += [
            ev.ConsumerStarted(at, self.name, self.life),
            ev.PollingBegan(at, self.name, self.life),
        ]

    def _exit(self, at: int, how: str) -> None:
        self._wake_at(at)
        self.out.append(ev.ConsumerExited(at, self.name, self.life, how))
        self.is_gone = True
        self.owned.clear()

    def _wake(self, f: Fact) -> None:
        """A listener's call, or a request to join, comes from a thread that goes on."""

        if self.halted == StopKind.FROZEN or (self.halted and f.what in APPLICATION_GOES_ON):
            self._wake_at(f.at_us)

    def _wake_at(self, at: int) -> None:
        if self.halted == StopKind.FROZEN:
            self.out.append(ev.ConsumerThawed(at, self.name))
        elif self.halted:
            self.out.append(ev.HandlerReturned(at, self.name))
        self.halted = None

    # ------------------------------------------------------------------------------- its facts
    def on_closed(self, f: Fact, place: int) -> None:
        self._exit(f.at_us, LifeEnd.CLOSED)

    def on_asking(self, f: Fact, place: int) -> None:
        self.out.append(ev.RequestSent(f.at_us, self.name, KafkaApi.JOIN, -1))

    def on_heard(self, f: Fact, place: int) -> None:
        self.out.append(ev.RebalanceNoticed(f.at_us, self.name, NoticedBy.HEARTBEAT))

    def on_rejoining(self, f: Fact, place: int) -> None:
        self.out.append(ev.RejoinRequested(f.at_us, self.name, f.why))

    def on_joined(self, f: Fact, place: int) -> None:
        member = f.member or self.voice.id_at(f.at_us)
        self.out.append(ev.GenerationJoined(f.at_us, self.name, f.generation, member, f.why))

    def on_planned(self, f: Fact, place: int) -> None:
        self.out.append(
            ev.AssignmentComputed(f.at_us, self.name, self.voice.group, f.generation, "")
        )

    def on_synced(self, f: Fact, place: int) -> None:
        given = next((x for x in self.voice.facts[place:] if x.what == FactKind.ASSIGNED), None)
        held = {**self.owned, **dict.fromkeys(map(partition_of, given.partitions if given else ()))}
        self.out.append(
            ev.AssignmentReceived(f.at_us, self.name, f.generation, tuple(sorted(held)))
        )

    def on_assigned(self, f: Fact, place: int) -> None:
        self._callback(f, place)
        self.owned.update(dict.fromkeys(map(partition_of, f.partitions)))

    def on_revoked(self, f: Fact, place: int) -> None:
        self._callback(f, place)
        for p in map(partition_of, f.partitions):
            self.owned.pop(p, None)

    def on_lost(self, f: Fact, place: int) -> None:
        self.on_revoked(f, place)

    def _callback(self, f: Fact, place: int) -> None:
        partitions = tuple(sorted(map(partition_of, f.partitions)))
        self.out += [
            ev.CallbackBegan(f.at_us, self.name, f.what.value, partitions),
            ev.CallbackEnded(
                _end_of(self.voice.facts, place, self.is_of_epochs),
                self.name,
                f.what.value,
                partitions,
            ),
        ]

    def on_positioned(self, f: Fact, place: int) -> None:
        for name in f.partitions:
            how = "committed" if f.amount else "earliest"
            at = ev.PositionFound(f.at_us, self.name, partition_of(name), max(0, f.amount), how)
            self.out.append(at)

    def on_poll_expired(self, f: Fact, place: int) -> None:
        limit = f.amount if f.amount > 0 else self.voice.settled("max.poll.interval.ms")
        last = f.at_us - limit * 1_000 if limit > 0 else -1
        self.out.append(ev.PollExpired(f.at_us, self.name, last))

    def on_leaving(self, f: Fact, place: int) -> None:
        self.out.append(ev.LeaveSent(f.at_us, self.name, f.why))

    def on_reset(self, f: Fact, place: int) -> None:
        self.out.append(ev.MemberReset(f.at_us, self.name, f.why))

    def on_thrown_out(self, f: Fact, place: int) -> None:
        self.out.append(ev.Fenced(f.at_us, self.name, KafkaApi.HEARTBEAT, f.why))

    def on_commit_refused(self, f: Fact, place: int) -> None:
        self.out.append(ev.CommitRefused(f.at_us, self.name, "CommitFailed"))

    def on_coordinator_found(self, f: Fact, place: int) -> None:
        self.out.append(ev.CoordinatorFound(f.at_us, self.name))

    def on_coordinator_lost(self, f: Fact, place: int) -> None:
        self.out.append(ev.CoordinatorLost(f.at_us, self.name, f.why))

    def on_state(self, f: Fact, place: int) -> None:
        before, _, after = f.why.partition(">")
        group = self.voice.group
        self.out.append(
            ev.MemberStateChanged(f.at_us, group, self.name, before, after, f.generation, "client")
        )


def _end_of(facts: Sequence[Fact], place: int, is_of_epochs: bool) -> int:
    """When the listener had returned: told where Streams prints what it took, else bounded by the next
    line of the same thread that comes soon after it. Where there is none, by its call: of what comes
    minutes later nobody knows how long before it the listener was done.
    """
    f = facts[place]
    after = AFTER_ASSIGNMENT if f.what == FactKind.ASSIGNED else AFTER_REVOCATION
    if not is_of_epochs and f.what != FactKind.ASSIGNED:  # one poll() calls for both
        after |= {FactKind.ASSIGNED}
    for x in facts[place + 1 : place + 8]:
        if x.what == FactKind.CALLBACK_TOOK and x.at_us - f.at_us >= x.amount * 900:
            return x.at_us
        is_own = not x.thread or not f.thread or x.thread == f.thread
        if x.what in after and is_own and x.at_us - f.at_us < LONGEST_CALLBACK_US:
            return x.at_us
        if x.what in CALLS and is_own:
            return f.at_us
    return f.at_us
