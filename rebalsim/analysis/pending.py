"""What was still under way when observation ended, and could therefore still change a verdict.

A verdict that a longer horizon overturns was none. So a budget is kept only where nothing of this
is left: a group that forms or is disturbed, a member that starts, closes, has not joined or has
died unnoticed, a blow whose consequences cannot all have come yet, disturbances that come back by
themselves, lag that grows. Everything here is read off the trace, for the stretch up to the
horizon alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.index import NOTHING
from rebalsim.analysis.lag_trends import lag_at, waiting
from rebalsim.analysis.memberships import Memberships, Place
from rebalsim.analysis.values import Disturbance, MemberLife, Pause
from rebalsim.domain.callback import Callback
from rebalsim.domain.doing import Doing
from rebalsim.domain.instants import MINUTE, SECOND
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.kafka_states import AT_REST, KafkaClientState
from rebalsim.domain.membership import Removal
from rebalsim.domain.open_end import OpenEnd, OpenEndKind
from rebalsim.domain.script import CreateConnector, Poison, ReconfigureConnector, Slow
from rebalsim.domain.stuck_by import StuckBy
from rebalsim.domain.trigger import Trigger
from rebalsim.trace import events as ev
from rebalsim.trace.connect_events import ConnectorStarted, TasksConfigured, WorkAssigned
from rebalsim.trace.streams_events import TasksWithheld

USUAL_SESSION_US = 45 * SECOND  # Kafka's default, where a trace does not tell
LINE_US = 32 * SECOND  # a healed line is noticed when TCP or a request's time-out next tries
REFRESH_US = 5 * MINUTE  # metadata.max.age.ms: a topic that came or went is seen by then
SOON_US = 5 * SECOND  # a heartbeat or poll that takes notice of what was just done
_GONE = (Doing.AWAY, Doing.FROZEN, Doing.CUT_OFF)


@dataclass(frozen=True, slots=True)
class Pending:
    """One thing that was under way; `group` empty: it concerns all of them. `action` is the
    script's action that it follows from, where that is known.
    """

    end: OpenEnd
    group: str = ""
    action: str = ""
    is_again: bool = False  # what was there before comes back: more of it, and nothing new


def pending_of(a: Findings) -> list[Pending]:
    """All of it, worked out once per analysis."""
    found: list[Pending] | None = a.workings.get("pending")
    if found is None:
        found = a.workings["pending"] = [
            *_disturbed(a),
            *_unread(a),
            *_never_synced(a),
            *_looks_again(a),
            *(p for m in a.members for p in _of_member(a, m)),
            *_former_places(a),
            *_blows(a),
            *_coming_back(a),
            *_overrunning(a),
            *_tasks_to_come(a),
        ]
    return found


def _disturbed(a: Findings) -> Iterator[Pending]:
    for d in a.disturbances:
        if d.is_open:
            yield Pending(OpenEnd(OpenEndKind.UNSETTLED, d.group), d.group, d.action)
    for group, spans in a.group_states.items():
        if spans and spans[-1].state not in AT_REST:
            yield Pending(OpenEnd(OpenEndKind.UNSTABLE, group), group)


def _unread(a: Findings) -> Iterator[Pending]:
    for p in read_nothing_yet(a)[:1]:
        yield Pending(unread_end(p), p.group)


def unread_end(p: Pause) -> OpenEnd:
    return OpenEnd(OpenEndKind.HAS_READ_NOTHING, p.owner_after, str(p.partition))


def read_nothing_yet(a: Findings) -> list[Pause]:
    """Pauses whose owner has its position and was handed nothing yet, the latest first: whether
    there was something to hand over shows a fetch later, or when its application polls again.
    """
    found: list[Pause] | None = a.workings.get("read-nothing-yet")
    if found is None:
        at_positions = [
            p
            for p in reversed(a.pauses)
            if not p.is_open and type(a.index.events[p.end_event]) is ev.PositionFound
        ]
        polls_later = {
            name: _polls_later(a, name) for name in {p.owner_after: None for p in at_positions}
        }
        found = a.workings["read-nothing-yet"] = [
            p
            for p in at_positions
            if a.horizon_us - p.ended_us < SOON_US or polls_later[p.owner_after]
        ]
    return found


def _polls_later(a: Findings, name: str) -> bool:
    """Is its application still starting, or stuck with what it was handed before?"""
    if not a.header.is_simulated:
        return False
    last_of, at_us = a.index.last_of, a.horizon_us
    is_starting = last_of(name, at_us, ev.ConsumerStarted) > last_of(name, at_us, ev.PollingBegan)
    is_stuck = last_of(name, at_us, ev.HandlerStuck) > last_of(
        name, at_us, ev.HandlerReturned, ev.ConsumerStarted
    )
    return is_starting or is_stuck


def _never_synced(a: Findings) -> Iterator[Pending]:
    """A static member that returned before it had asked for its assignment: the coordinator still
    waits for the id that it replaced, and rebalances when that wait is over.
    """
    wait_us = max((f.max_poll_interval_us for f in a.header.consumers.values()), default=0)
    for group, numbers in a.index.by_group.items():
        replaced_us: dict[str, int] = {}
        for place in range(len(numbers) - 1, -1, -1):
            e = a.index.events[numbers[place]]
            if a.horizon_us - e.at_us > wait_us:
                break
            if type(e) is ev.MemberRemoved and e.why == Removal.REPLACED:
                replaced_us[e.consumer] = e.at_us
            elif type(e) is ev.BarrierCompleted:
                for name, at_us in replaced_us.items():
                    last = a.index.last_of(name, at_us, ev.AssignmentReceived)
                    if last < 0 or a.index.events[last].at_us < e.at_us:
                        end = OpenEnd(OpenEndKind.WAITS_FOR_REPLACED_ID, group, name)
                        yield Pending(end, group)
                break


def _looks_again(a: Findings) -> Iterator[Pending]:
    """A Streams application whose leader withheld tasks: it has the group rebalance once more, at
    once or by probing, to see whether the copies are as far as their tasks.
    """
    for group, numbers in a.index.by_group.items():
        rounds = a.rounds_by_group.get(group, ())
        for number in reversed(numbers):
            e = a.index.events[number]
            if type(e) is TasksWithheld:
                if rounds and rounds[-1].generation <= e.generation:
                    yield Pending(OpenEnd(OpenEndKind.LOOKS_AGAIN, group), group)
                break
            if type(e) is ev.BarrierCompleted:
                break


# ------------------------------------------------------------------------------------------ members


def _of_member(a: Findings, m: MemberLife) -> Iterator[Pending]:
    """What is still under way of one member: its process and the coordinator's record of it must
    agree before it is at rest. Only the simulation tells both.
    """
    if not a.header.is_simulated or not m.spans:
        return
    doing = m.spans[-1].what
    is_member = _is_member(a, m, doing)
    if doing in (Doing.STARTING, Doing.CLOSING, Doing.IN_CALLBACK, Doing.STUCK):
        yield Pending(OpenEnd(OpenEndKind.BUSY_WITH_ITSELF, m.consumer, doing), m.group)
    elif doing in _GONE and is_member:
        yield Pending(OpenEnd(OpenEndKind.GONE_AND_A_MEMBER, m.consumer, doing), m.group)
    elif doing is Doing.POLLING and not is_member:
        yield Pending(OpenEnd(OpenEndKind.NOT_JOINED, m.consumer), m.group)
    elif _is_cut(a, m):
        yield Pending(OpenEnd(OpenEndKind.CUT_AND_A_MEMBER, m.consumer), m.group)
    elif doing is Doing.POLLING and _has_been_asked_to_stop(a, m):
        yield Pending(OpenEnd(OpenEndKind.ASKED_TO_STOP, m.consumer), m.group)
    elif doing is Doing.POLLING and _is_slow(a, m):
        yield Pending(OpenEnd(OpenEndKind.SLOW, m.consumer), m.group)
    elif doing is Doing.POLLING and (told := _is_told(a, m)):
        yield Pending(told, m.group)


def _has_been_asked_to_stop(a: Findings, m: MemberLife) -> bool:
    """Whether it finishes its batch and leaves then."""
    return a.index.last_of(m.consumer, a.horizon_us, ev.StopAsked) > a.index.last_of(
        m.consumer, a.horizon_us, ev.ConsumerStarted
    )


def _is_slow(a: Findings, m: MemberLife) -> bool:
    """Whether its handler is slowed down, or took longer than undisturbed not long ago: between two
    slow batches it looks like any other.
    """
    if a.horizon_us < _slowed_until(a).get(m.consumer, 0) + _whole_batch_us(a, m.consumer):
        return True
    last = a.index.last_of(m.consumer, a.horizon_us, ev.HandlerStuck)
    if last < 0 or a.index.events[last].why != StuckBy.SLOW:
        return False
    at_us: int = a.index.events[last].at_us
    before = a.index.last_of(m.consumer, at_us - 1, ev.HandlerStuck)
    gap_us = at_us - a.index.events[before].at_us if before >= 0 else 0
    return a.horizon_us - at_us < max(SOON_US, min(3 * gap_us, MINUTE))


def _slowed_until(a: Findings) -> dict[str, int]:
    """Consumer → when the last slowing of its handler ends."""
    known: dict[str, int] | None = a.workings.get("slowed until")
    if known is None:
        known = a.workings["slowed until"] = {}
        for n in a.index.world:
            e = a.index.events[n]
            if type(e) is ev.ScriptActed and e.kind == Slow.__name__:
                for name in e.targets:
                    known[name] = max(known.get(name, 0), e.until_us)
    return known


def _whole_batch_us(a: Findings, consumer: str) -> int:
    """How long a whole batch takes undisturbed: one that was begun while the handler was slow shows
    that only then.
    """
    facts = a.header.consumers.get(consumer)
    if facts is None or facts.per_record_us <= 0 or facts.max_poll_records <= 0:
        return 0
    return int(facts.per_record_us * facts.max_poll_records)


def _is_cut(a: Findings, m: MemberLife) -> bool:
    """Whether a line of its was down at the end, if only that to one broker."""
    return a.index.last_of(m.consumer, a.horizon_us, ev.LinkCut) > a.index.last_of(
        m.consumer, a.horizon_us, ev.LinkHealed
    )


def _is_member(a: Findings, m: MemberLife, doing: Doing) -> bool:
    """Whether the coordinator had it in the group at the end; one that runs by an id that it took
    in this life, as whoever restarts has to join anew while its former id is still there.
    """
    places = _places_at_end(a).get(m.consumer, ())
    if doing in _GONE:
        return bool(places)
    started = a.index.last_of(m.consumer, a.horizon_us, ev.ConsumerStarted)
    since_us = a.index.events[started].at_us if started >= 0 else 0
    return any(place.joined_us >= since_us for place in places)


def _former_places(a: Findings) -> Iterator[Pending]:
    """A process that came back by another id: its former one is in the group until that session
    is over, and then the group rebalances.
    """
    if not a.header.is_simulated:
        return
    for name, places in _places_at_end(a).items():
        if len(places) > 1:
            end = OpenEnd(OpenEndKind.FORMER_ID_A_MEMBER, name)
            yield Pending(end, a.index.group_of.get(name, ""))


def _places_at_end(a: Findings) -> dict[str, list[Place]]:
    """Consumer → the places that the coordinators kept for it at the end, the newest last."""
    known: dict[str, list[Place]] | None = a.workings.get("places-at-the-end")
    if known is None:
        known = a.workings["places-at-the-end"] = {}
        for group in a.index.by_group:
            for place in Memberships(a.index, group).at_end():
                known.setdefault(place.consumer, []).append(place)
    return known


# how a member stands whose last word is one of these
_LAST_WORDS: dict[type, OpenEndKind] = {
    ev.RejoinRequested: OpenEndKind.ON_ITS_WAY,
    ev.RebalanceNoticed: OpenEndKind.ON_ITS_WAY,
    ev.GenerationJoined: OpenEndKind.ON_ITS_WAY,
    ev.CoordinatorLost: OpenEndKind.WITHOUT_ITS_GROUP,
    ev.MemberReset: OpenEndKind.WITHOUT_ITS_GROUP,
    ev.Fenced: OpenEndKind.WITHOUT_ITS_GROUP,
    ev.PollExpired: OpenEndKind.WITHOUT_ITS_GROUP,
    ev.AssignmentReceived: OpenEndKind.HAS_AN_ASSIGNMENT,
}


def _is_told(a: Findings, m: MemberLife) -> OpenEnd | None:
    """A member that has been told to join again, or waits for an answer, is not at rest."""
    numbers = a.index.by_consumer.get(m.consumer, NOTHING)
    for place in range(len(numbers) - 1, -1, -1):
        e = a.index.events[numbers[place]]
        kind = type(e)
        if kind is ev.MemberStateChanged and e.is_of_client:
            state = e.after.lower()
            return (
                None
                if e.after == KafkaClientState.STABLE
                else OpenEnd(OpenEndKind.IN_STATE, m.consumer, state)
            )
        if kind in _LAST_WORDS:
            return OpenEnd(_LAST_WORDS[kind], m.consumer)
        if kind is ev.RequestSent and e.api in (KafkaApi.JOIN, KafkaApi.SYNC):
            return OpenEnd(OpenEndKind.WAITS_FOR_ANSWER, m.consumer, e.api)
        if kind is WorkAssigned:
            is_waiting = e.at_us + e.delay_us > a.horizon_us and e.delay_us
            return OpenEnd(OpenEndKind.WAITS_OUT_THE_DELAY, m.consumer) if is_waiting else None
        if kind is ev.CallbackEnded:
            is_over = e.callback == Callback.ASSIGNED
            return None if is_over else OpenEnd(OpenEndKind.HAS_GIVEN_UP, m.consumer)
        if kind is ev.ConsumerStarted:
            return None
    return None


# -------------------------------------------------------------------------------------------- blows


def _blows(a: Findings) -> Iterator[Pending]:
    """What the script or a fault did so late that not all of its consequences can have come."""
    if not a.header.is_simulated:
        return
    settled = {d.action: d.ended_us for d in a.disturbances if d.action and not d.is_open}
    session_us = max((f.session_timeout_us for f in a.header.consumers.values()), default=0)
    session_us = session_us if session_us > 0 else USUAL_SESSION_US
    down: set[int] = set()
    for n in a.index.world:
        e = a.index.events[n]
        reach, action, end = SOON_US, "", OpenEnd(OpenEndKind.JUST_CHANGED)
        if type(e) is ev.ScriptActed:
            action, end = e.action, OpenEnd(OpenEndKind.JUST_BEGUN, what=e.text or e.action)
        elif type(e) is ev.BrokerChanged:
            (down.discard if e.is_up else down.add)(e.broker)
            reach = LINE_US + session_us
            end = OpenEnd(OpenEndKind.BROKER_JUST_CHANGED, what=str(e.broker))
        elif type(e) is ev.TopicChanged:
            reach, end = REFRESH_US, OpenEnd(OpenEndKind.TOPIC_UNSEEN, what=e.topic)
        if a.horizon_us - e.at_us < reach and settled.get(action, -1) < e.at_us:
            yield Pending(end, action=action)
        if type(e) is ev.ScriptActed and e.kind == Poison.__name__ and waiting(a, a.partitions):
            yield Pending(OpenEnd(OpenEndKind.POISON_WAITS), action=e.action)
    if down:
        yield Pending(OpenEnd(OpenEndKind.BROKERS_DOWN, count=len(down)))
    yield from _just_back(a, session_us)


def _tasks_to_come(a: Findings) -> Iterator[Pending]:
    """A connector that was created or reconfigured sets off two rounds: one for itself, and one for
    its tasks, which it tells when it has started.
    """
    for n in a.index.world:
        e = a.index.events[n]
        if type(e) is ev.ScriptActed and e.kind in (
            CreateConnector.__name__,
            ReconfigureConnector.__name__,
        ):
            for connector in e.targets:
                if not _are_dealt_out(a, n, connector):
                    yield Pending(OpenEnd(OpenEndKind.TASKS_TO_COME, connector), action=e.action)


def _are_dealt_out(a: Findings, since: int, connector: str) -> bool:
    """Has a worker taken over a round's answer since the connector told its tasks? One that starts
    and has others to tell than before does so soon.
    """
    told = False
    for e in islice(a.index.events, since + 1, None):
        if e.at_us > a.horizon_us:
            return False
        kind = type(e)
        if kind is TasksConfigured and e.connector == connector:
            told = True
        elif kind is WorkAssigned and told:
            return True
        elif kind is ConnectorStarted and e.connector == connector:
            told_by_now = a.horizon_us - e.at_us > LINE_US
            if told_by_now and not told:
                return True
    return False


def _just_back(a: Findings, session_us: int) -> Iterator[Pending]:
    """Who was cut off or frozen until shortly before the end."""
    for name, numbers in a.index.by_consumer.items():
        for place in range(len(numbers) - 1, -1, -1):
            e = a.index.events[numbers[place]]
            if a.horizon_us - e.at_us >= LINE_US + session_us:
                break
            if type(e) in (ev.LinkHealed, ev.ConsumerThawed):
                end = OpenEnd(OpenEndKind.JUST_BACK, name)
                yield Pending(end, a.index.group_of.get(name, ""))
                break


# ------------------------------------------------------------------------------------ coming again


def _coming_back(a: Findings) -> Iterator[Pending]:
    """Disturbances that nobody's action set off, again and again: the next one is due."""
    last: dict[tuple[str, Trigger, str], Disturbance] = {}
    gaps: dict[tuple[str, Trigger, str], int] = {}
    for d in a.disturbances:
        if d.action or not d.consumer:
            continue
        key = (d.group, d.trigger, d.consumer)
        if key in last:
            gaps[key] = max(gaps.get(key, 0), d.started_us - last[key].started_us)
        last[key] = d
    for key, gap in gaps.items():
        if a.horizon_us - last[key].started_us < 3 * gap:
            yield Pending(
                OpenEnd(OpenEndKind.DISTURBED_AGAIN, key[2], key[0], length_us=gap),
                key[0],
                is_again=True,
            )


def _overrunning(a: Findings) -> Iterator[Pending]:
    """Members with so much before them that one batch of it takes longer than the group waits."""
    late: dict[str, float] = {}
    for key in waiting(a, [k for k in a.partitions if a.holdings.get(k)]):
        last = a.holdings[key][-1]
        if last.ended_us >= a.horizon_us:
            late[last.consumer] = late.get(last.consumer, 0.0) + lag_at(a, key, a.horizon_us)
    for name, records in late.items():
        facts = a.header.consumers.get(name)
        if facts is None or facts.per_record_us <= 0 or facts.max_poll_interval_us <= 0:
            continue
        # what waits now, or a whole batch where a rising lag will fill one
        batch = facts.max_poll_records if facts.max_poll_records > 0 else records
        if batch * facts.per_record_us >= facts.max_poll_interval_us:
            yield Pending(
                OpenEnd(OpenEndKind.MAY_OUTLAST_ITS_POLL, name),
                a.index.group_of.get(name, ""),
                is_again=a.index.last_of(name, a.horizon_us, ev.PollExpired) >= 0,
            )
