"""What a consumer's poll thread was at, as far as its events tell: a handler that got stuck,
callbacks, commits before a rebalance that are made again and again, a SyncGroup without an answer
(either thread reads that; the answer to a JoinGroup may lie there, for a busy one to read). And
when it had no coordinator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rebalsim.analysis.index import Index
from rebalsim.domain.doing import Doing
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.stuck_by import StuckBy
from rebalsim.trace import events as ev

AGAIN_US = 1_100_000  # a commit that is refused is made again within retry.backoff.max.ms
Spans = dict[Doing, list[tuple[int, int]]]  # what it was at → (from, until), ascending


def spans_of(index: Index, numbers: Iterable[int]) -> Spans:
    """From these events of one consumer."""
    thread = _PollThread()
    for number in numbers:
        event = index.events[number]
        if (take := _TAKES.get(type(event))) is not None:
            take(thread, event)
    thread.ends(index.horizon_us)
    return thread.found


class _PollThread:
    """What it is at now, since when, and what it was at before."""

    def __init__(self) -> None:
        self.found: Spans = {}
        self.since: dict[Doing, int] = {}

    def end(self, at_us: int, *whats: Doing) -> None:
        for what in whats:
            if what in self.since:
                self.found.setdefault(what, []).append((self.since.pop(what), at_us))

    def ends(self, at_us: int) -> None:
        """The thread is at nothing any more. A commit that was sent and not answered counts for
        nothing then: nobody waits for it.
        """
        self.since.pop(Doing.COMMITTING, None)
        self.end(at_us, *list(self.since))

    def callback_began(self, e: ev.CallbackBegan) -> None:
        self.since.pop(Doing.COMMITTING, None)
        self.since[Doing.IN_CALLBACK] = e.at_us

    def sent(self, e: ev.RequestSent) -> None:
        if e.api == KafkaApi.OFFSET_COMMIT and Doing.IN_CALLBACK not in self.since:
            if e.at_us - self.since.get(Doing.COMMITTING, e.at_us) <= AGAIN_US:
                self.end(e.at_us, Doing.COMMITTING)
            self.since[Doing.COMMITTING] = e.at_us
        elif e.api == KafkaApi.JOIN:
            self.since.pop(Doing.COMMITTING, None)
            self.end(e.at_us, Doing.WAITING)
        elif e.api == KafkaApi.SYNC:
            self.since[Doing.WAITING] = e.at_us

    def answered(self, e: ev.ResponseReceived) -> None:
        if e.api == KafkaApi.SYNC:
            self.end(e.at_us, Doing.WAITING)
        elif e.api == KafkaApi.OFFSET_COMMIT and not e.error:
            self.since.pop(Doing.COMMITTING, None)

    def stuck(self, e: ev.HandlerStuck) -> None:
        if e.why != StuckBy.COMMIT:
            self.since.setdefault(Doing.STUCK, e.at_us)

    def lost_coordinator(self, e: ev.CoordinatorLost) -> None:
        self.since.setdefault(Doing.NO_COORDINATOR, e.at_us)


# typed loosely, as each takes its own kind of event
_TAKES: dict[type, Callable[..., None]] = {
    ev.CallbackBegan: _PollThread.callback_began,
    ev.CallbackEnded: lambda thread, e: thread.end(e.at_us, Doing.IN_CALLBACK),
    ev.RequestSent: _PollThread.sent,
    ev.ResponseReceived: _PollThread.answered,
    ev.HandlerStuck: _PollThread.stuck,
    ev.HandlerReturned: lambda thread, e: thread.end(e.at_us, Doing.STUCK),
    ev.CoordinatorLost: _PollThread.lost_coordinator,
    ev.CoordinatorFound: lambda thread, e: thread.end(e.at_us, Doing.NO_COORDINATOR),
    ev.ConsumerExited: lambda thread, e: thread.ends(e.at_us),
}
