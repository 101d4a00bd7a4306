"""What a consumer was doing while others waited for it: dead, frozen, stuck, in a callback,
committing, without a coordinator, waiting for an answer; busy with its batch if it was none of
these; or simply unaware.
"""

from __future__ import annotations

from bisect import bisect_right

from rebalsim.analysis.index import NOTHING, Index
from rebalsim.analysis.memberships import Memberships
from rebalsim.analysis.poll_thread import Spans, spans_of
from rebalsim.analysis.values import Facts, Rebalance
from rebalsim.domain.completion import Completion
from rebalsim.domain.doing import Doing
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.life_end import LifeEnd
from rebalsim.domain.membership import Arrival, Removal
from rebalsim.domain.noticed_by import NoticedBy
from rebalsim.domain.timer import Timer
from rebalsim.trace import events as ev

QUICK_US = 50_000  # a commit and a request take no longer, where nothing else keeps the poll thread
TIMERS = {  # why a member was removed → the timer that ran out
    Removal.SESSION_EXPIRED: Timer.SESSION,
    Removal.NOT_REJOINED: Timer.REBALANCE_TIMEOUT,
    Removal.REBALANCE_TIMEOUT: Timer.REBALANCE_TIMEOUT,
    "poll-expired": Timer.POLL,
}

_BEGINS: dict[type, Doing] = {
    ev.ConsumerExited: Doing.DEAD,
    ev.ConsumerFroze: Doing.FROZEN,
    ev.HandlerStuck: Doing.STUCK,
    ev.LinkCut: Doing.CUT_OFF,
    ev.CloseBegan: Doing.CLOSING,
    ev.ConsumerStarted: Doing.STARTING,
    ev.CallbackBegan: Doing.IN_CALLBACK,
}
_ENDS: dict[type, Doing] = {
    ev.ConsumerThawed: Doing.FROZEN,
    ev.HandlerReturned: Doing.STUCK,
    ev.LinkHealed: Doing.CUT_OFF,
    ev.PollingBegan: Doing.STARTING,
    ev.CallbackEnded: Doing.IN_CALLBACK,
}


class Doings:
    """Looks up what consumers were doing, from their own events."""

    def __init__(self, index: Index) -> None:
        self.index = index
        # consumer → (from, doing or empty, event), ascending
        self.known: dict[str, list[tuple[int, Doing, int]]] = {}
        self.spans: dict[str, Spans] = {}  # of each consumer's poll thread
        self.groups: dict[str, Memberships] = {}
        self.uncoordinated: dict[str, list[tuple[int, int]]] = {}

    def memberships_of(self, group: str) -> Memberships:
        """Who was a member of the group and when, by the coordinator's word."""
        found = self.groups.get(group)
        if found is None:
            found = self.groups[group] = Memberships(self.index, group)
        return found

    def at(self, consumer: str, at_us: int) -> tuple[Doing, int, int]:
        """What kept the consumer at that instant, since when, and the event that tells; empty if
        nothing did.
        """
        changes = self._changes(consumer)
        place = bisect_right(changes, at_us, key=lambda c: c[0])
        if place == 0:
            return Doing.NOTHING, -1, -1
        since, doing, event = changes[place - 1]
        return doing, since, event

    def until(self, consumer: str, at_us: int) -> int:
        """When the consumer stopped doing what it did at that instant; −1 if it never did."""
        changes = self._changes(consumer)
        place = bisect_right(changes, at_us, key=lambda c: c[0])
        return changes[place][0] if place < len(changes) else -1

    def _changes(self, consumer: str) -> list[tuple[int, Doing, int]]:
        found = self.known.get(consumer)
        if found is None:
            found, now, has_closed = [], Doing.NOTHING, False
            for number in self.index.by_consumer.get(consumer, ()):
                event = self.index.events[number]
                kind = type(event)
                if (begun := _BEGINS.get(kind)) is not None:
                    has_closed = kind is ev.CloseBegan or (
                        has_closed and kind is not ev.ConsumerStarted
                    )
                    now = (
                        Doing.AWAY
                        if begun is Doing.DEAD and (event.how == LifeEnd.CLOSED or has_closed)
                        else begun
                    )
                elif _ENDS.get(kind) == now:
                    now = Doing.NOTHING
                else:
                    continue
                found.append((event.at_us, now, number))
            self.known[consumer] = found
        return found

    def last_of(self, r: Rebalance, from_us: int, horizon_us: int) -> tuple[Facts, tuple[int, ...]]:
        """Whom a round's barrier waited for last, from that instant on, and what that one was
        doing meanwhile.
        """
        end = r.barrier_us if r.barrier_us >= 0 else horizon_us
        if r.completed_by is Completion.INITIAL_DELAY:
            return Facts(
                r.trigger_consumer,
                Doing.INITIAL_DELAY,
                r.prepared_us,
                end,
                Timer.INITIAL_DELAY,
                r.trigger,
            ), r.evidence
        late = r.last or _latest_removed(r)
        if late in r.removed and (r.completed_by is Completion.REMOVAL or late not in r.joins):
            at, event, why = r.removed[late]
            began = max(r.prepared_us, min(from_us, at - 1))
            doing, since, begun = self._before_removal(late, began, at, event)
            return Facts(
                late,
                doing or self.between(late, began, at),
                since,
                at,
                TIMERS.get(why, Timer.NONE),
                r.trigger,
            ), tuple(n for n in (begun, event) if n >= 0)
        if r.completed_by is Completion.TIMER:
            late = next(iter(r.kicked), late) or self._absent(r, end - 1)
            doing, since, begun = self.at(late, end - 1) if late else (Doing.UNKNOWN, -1, -1)
            doing = doing or (
                self.between(late, max(r.prepared_us, from_us), end) if late else Doing.UNKNOWN
            )
            return Facts(late, doing, since, end, Timer.REBALANCE_TIMEOUT, r.trigger), tuple(
                n for n in (begun,) if n >= 0
            )
        if not late:
            return Facts("", Doing.UNKNOWN, -1, end, Timer.NONE, r.trigger), r.evidence
        return self._of_joiner(r, late, max(r.prepared_us, from_us))

    def _absent(self, r: Rebalance, at_us: int) -> str:
        """Who kept its place without joining, as static members do: the first whom something
        kept.
        """
        return next(
            (
                c
                for c in self.index.members_of(r.group)
                if c not in r.joins
                and self.at(c, at_us)[0] not in (Doing.NOTHING, Doing.IN_CALLBACK)
            ),
            "",
        )

    def _before_removal(
        self, consumer: str, from_us: int, at: int, event: int
    ) -> tuple[Doing, int, int]:
        """What kept a member from joining until it was removed. Where its process had exited
        since it was last heard of, that: what was started in its place is another member. A
        coordinator that takes over may hold one for a member that has left: a leave is in the
        log only when the next generation is.
        """
        removal = self.index.events[event]
        if type(removal) is not ev.MemberRemoved or removal.last_heard_us < 0:
            return self.at(consumer, from_us)
        loaded, exited = self._since_heard_of(consumer, at, removal)
        if loaded >= 0:
            return Doing.GHOST, self.index.events[loaded].at_us, loaded
        was = self.memberships_of(removal.group).of(removal.member_id)
        if was is not None and was.exited_us >= 0:
            return Doing.AWAY if was.is_closed else Doing.DEAD, was.exited_us, was.exit_event
        if exited >= 0:
            e = self.index.events[exited]
            return Doing.AWAY if e.how == LifeEnd.CLOSED else Doing.DEAD, e.at_us, exited
        return self.at(consumer, from_us)

    def _since_heard_of(self, consumer: str, at: int, removal: ev.MemberRemoved) -> tuple[int, int]:
        """Which event loaded a member that had been removed before (a ghost), or else by which its
        process exited since it was last heard of; −1 where there is none.
        """
        heard, loaded, exited = removal.last_heard_us, -1, -1
        numbers = self.index.by_consumer.get(consumer, NOTHING)
        for place in range(self.index.first_at(numbers, at + 1) - 1, -1, -1):
            e = self.index.events[numbers[place]]
            kind = type(e)
            is_its_own = (
                kind is ev.MemberAdded or kind is ev.MemberRemoved
            ) and e.member_id == removal.member_id
            if is_its_own and kind is ev.MemberAdded and e.how == Arrival.LOADED:
                loaded, heard = numbers[place], -1
            elif is_its_own and kind is ev.MemberRemoved and loaded >= 0:
                return loaded, exited
            elif e.at_us < heard or (is_its_own and kind is ev.MemberAdded):
                break
            elif kind is ev.ConsumerExited and exited < 0:
                exited = numbers[place]
        return -1, exited

    def _of_joiner(self, r: Rebalance, late: str, from_us: int) -> tuple[Facts, tuple[int, ...]]:
        """The last one joined in the end: what kept it from that instant on."""
        join_us, join_event = r.joins.get(late, (-1, -1))
        noticed_us, notice_event = r.notices.get(late, (-1, -1))
        evidence = tuple(n for n in (notice_event, join_event) if n >= 0)
        doing, since, begun = self.at(late, from_us)
        if doing and doing != Doing.IN_CALLBACK:
            until = self.until(late, from_us)
            return Facts(
                late, doing, since, until if until >= 0 else join_us, Timer.NONE, r.trigger
            ), (
                begun,
                *evidence,
            )
        if noticed_us < 0:
            doing = self.between(late, from_us, join_us)
            return Facts(
                late,
                doing if doing is Doing.NO_COORDINATOR else Doing.JOINING,
                from_us,
                join_us,
                Timer.NONE,
                r.trigger,
            ), evidence
        if (
            noticed_us > from_us
            and noticed_us - from_us >= join_us - noticed_us
            and self.is_by_heartbeat(notice_event)
        ):
            return Facts(
                late, Doing.UNAWARE, r.prepared_us, noticed_us, Timer.HEARTBEAT, r.trigger
            ), evidence
        began = max(noticed_us, from_us) if self.is_by_heartbeat(notice_event) else from_us
        return Facts(
            late, self.between(late, began, join_us), began, join_us, Timer.NONE, r.trigger
        ), evidence

    def is_by_heartbeat(self, notice: int) -> bool:
        """Whether a member heard of a round at its heartbeat (which comes whatever the
        application does), as far as the trace tells.
        """
        event = self.index.events[notice] if notice >= 0 else None
        return type(event) is not ev.RebalanceNoticed or event.by == NoticedBy.HEARTBEAT

    def between(self, consumer: str, from_us: int, until_us: int) -> Doing:
        """What most of that time went to. Who was at nothing that is told was busy with its
        batch; only joining where it was quick.
        """
        spent = {
            what: _within(spans, from_us, until_us) for what, spans in self._spans(consumer).items()
        }
        spent[Doing.NO_COORDINATOR] = self.out_of_reach(consumer, from_us, until_us)
        most, _, what = max(
            (sum(until - at for at, until in spans), what is Doing.IN_CALLBACK, what)
            for what, spans in spent.items()
        )
        if most * 2 > until_us - from_us:
            return what
        return Doing.BUSY if until_us - from_us > QUICK_US else Doing.JOINING

    def out_of_reach(self, consumer: str, from_us: int, until_us: int) -> list[tuple[int, int]]:
        """When nobody led the group during that time, or the consumer did not know who does."""
        group = self.index.group_of.get(consumer, "")
        joined: list[tuple[int, int]] = []
        lost = self._spans(consumer).get(Doing.NO_COORDINATOR, []) if consumer else []
        for at, until in sorted(
            _within(self.without_coordinator(group), from_us, until_us)
            + _within(lost, from_us, until_us)
        ):
            if joined and at <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(until, joined[-1][1])
            else:
                joined.append((at, until))
        return joined

    def uncoordinated_within(
        self, group: str, from_us: int, until_us: int
    ) -> list[tuple[int, int]]:
        """When nobody led the group during that time."""
        return _within(self.without_coordinator(group), from_us, until_us)

    def without_coordinator(self, group: str) -> list[tuple[int, int]]:
        """When no broker led the group, or the one that does was still reading it."""
        found = self.uncoordinated.get(group)
        if found is None:
            found, since = [], -1
            for number in self.index.by_group.get(group, NOTHING):
                e = self.index.events[number]
                if (
                    type(e) is ev.GroupStateChanged
                    and e.after == KafkaGroupState.DEAD
                    and since < 0
                ):
                    since = e.at_us
                elif type(e) is ev.CoordinatorMoved:
                    if not e.is_loaded and since < 0:
                        since = e.at_us
                    elif e.is_loaded and since >= 0:
                        found.append((since, e.at_us))
                        since = -1
            if since >= 0:
                found.append((since, self.index.horizon_us))
            self.uncoordinated[group] = found
        return found

    def _spans(self, consumer: str) -> Spans:
        found = self.spans.get(consumer)
        if found is None:
            numbers = self.index.by_consumer.get(consumer, NOTHING)
            found = self.spans[consumer] = spans_of(self.index, numbers)
        return found


def _within(spans: list[tuple[int, int]], from_us: int, until_us: int) -> list[tuple[int, int]]:
    """The parts of these spans that lie in that time."""
    found = []
    for place in range(bisect_right(spans, from_us, key=lambda s: s[1]), len(spans)):
        at, until = spans[place]
        if at >= until_us:
            break
        found.append((max(at, from_us), min(until, until_us)))
    return found


def _latest_removed(r: Rebalance) -> str:
    return (
        max(((at, c) for c, (at, _, _) in r.removed.items()), default=(-1, ""))[1]
        if r.completed_by is Completion.REMOVAL
        else ""
    )
