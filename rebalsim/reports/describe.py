"""What `kafka-consumer-groups --describe` would have shown at an instant, in its columns: offsets,
--members, --state, each with --verbose.

Looked up in the trace and its analysis; what a trace does not tell is `-`, as it is there for
what the group does not know.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rebalsim.analysis import Analysis
from rebalsim.analysis.committed import committed_at, interval_of
from rebalsim.analysis.group_kinds import GroupTold
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.membership import Arrival, Removal
from rebalsim.reports.names import safe
from rebalsim.trace import events as ev
from rebalsim.words.times import say_duration

MISSING = "-"
_COLLECTING = (KafkaGroupState.PREPARING_REBALANCE, KafkaGroupState.COMPLETING_REBALANCE)
_REBALANCING = (*_COLLECTING, KafkaGroupState.ASSIGNING, KafkaGroupState.RECONCILING)


@dataclass(slots=True)
class Membership:
    """A member as the group knew it at the instant."""

    consumer: str
    member_id: str = ""
    epoch: int = -1
    partitions: dict[Partition, None] = field(default_factory=dict)
    is_told: bool = (
        False  # the trace told its assignment; a dead member keeps its own until it is removed
    )


@dataclass(slots=True)
class Moment:
    """One group at an instant."""

    group: str
    state: str
    members: dict[str, Membership]
    coordinator: int = -1
    assignor: str = ""
    epoch: int = -1
    target_epoch: int = -1
    is_new_protocol: bool = False


def moment_of(a: Analysis, group: str, at_us: int) -> Moment:
    """What the trace had told by then."""
    state = next(
        (s.state for s in a.group_states.get(group, ()) if s.started_us <= at_us < s.ended_us),
        KafkaGroupState.EMPTY,
    )
    moment = Moment(group, state, {})
    moment.is_new_protocol = _is_new_protocol(a, group, at_us)
    for number in a.index.of_group(group):
        e = a.trace.events[number]
        if e.at_us > at_us:
            break
        _take_in(moment, e)
    if state in _COLLECTING:  # the coordinator has no assignment to show until it is stable
        for member in moment.members.values():
            member.partitions = {}
    elif not any(m.is_told for m in moment.members.values()):
        for (of, p), holdings in a.holdings.items():
            for h in holdings if of == group else ():
                if h.started_us <= at_us < h.ended_us and h.consumer in moment.members:
                    moment.members[h.consumer].partitions[p] = None
    return moment


def _is_new_protocol(a: Analysis, group: str, at_us: int) -> bool:
    """As the trace tells by then, else as its header has the members begin."""
    told = GroupTold(a.index, group).within(at_us, at_us + 1)
    if told:
        return told[0][1]
    facts = [f for f in a.header.consumers.values() if f.group == group]
    return any(f.at(at_us).uses_consumer_protocol for f in facts)


# ----------------------------------------- what an event changes in the group as the tool shows it


def _take_in(moment: Moment, e: ev.TraceEvent) -> None:
    if (change := _CHANGES.get(type(e))) is not None:
        change(moment, e)


def _member_added(moment: Moment, e: ev.MemberAdded) -> None:
    if e.how != Arrival.PENDING:
        moment.members[e.consumer] = Membership(e.consumer, e.member_id)


def _member_removed(moment: Moment, e: ev.MemberRemoved) -> None:
    if e.why != Removal.REPLACED:
        moment.members.pop(e.consumer, None)


def _left(moment: Moment, e: ev.LeaveSent) -> None:
    moment.members.pop(e.consumer, None)


def _joined(moment: Moment, e: ev.GenerationJoined) -> None:
    member = moment.members.setdefault(e.consumer, Membership(e.consumer))
    member.member_id, member.epoch = e.member_id or member.member_id, e.generation
    moment.epoch = max(moment.epoch, e.generation)
    if not moment.is_new_protocol:  # there the brokers assign, whatever a classic member offers
        moment.assignor = e.assignor or moment.assignor


def _told_its_assignment(moment: Moment, e: ev.AssignmentReceived) -> None:
    if (member := moment.members.get(e.consumer)) is not None:
        member.partitions, member.is_told = dict.fromkeys(e.partitions), True


def _changed_its_state(moment: Moment, e: ev.MemberStateChanged) -> None:
    if (member := moment.members.get(e.consumer)) is not None:
        member.epoch = max(member.epoch, e.epoch)


def _barrier_fell(moment: Moment, e: ev.BarrierCompleted) -> None:
    moment.assignor, moment.epoch = e.assignor or moment.assignor, e.generation


def _epoch_bumped(moment: Moment, e: ev.EpochBumped) -> None:
    moment.epoch = e.epoch


def _target_computed(moment: Moment, e: ev.AssignmentComputed) -> None:
    moment.assignor, moment.target_epoch = e.assignor or moment.assignor, e.generation


def _coordinator_moved(moment: Moment, e: ev.CoordinatorMoved) -> None:
    moment.coordinator = e.broker


def _coordinator_found(moment: Moment, e: ev.CoordinatorFound) -> None:
    if moment.coordinator < 0:
        moment.coordinator = e.broker


_CHANGES: dict[type, Callable[[Moment, Any], None]] = {
    ev.MemberAdded: _member_added,
    ev.MemberRemoved: _member_removed,
    ev.LeaveSent: _left,
    ev.GenerationJoined: _joined,
    ev.AssignmentReceived: _told_its_assignment,
    ev.MemberStateChanged: _changed_its_state,
    ev.BarrierCompleted: _barrier_fell,
    ev.EpochBumped: _epoch_bumped,
    ev.AssignmentComputed: _target_computed,
    ev.CoordinatorMoved: _coordinator_moved,
    ev.CoordinatorFound: _coordinator_found,
}


# ---------------------------------------------------------------------------------------- its tables


def render(a: Analysis, at_us: int, form: str, is_verbose: bool, groups: Sequence[str] = ()) -> str:
    """`form` is offsets, members or state; every group of the trace, or those named."""
    told = []
    for group in groups or a.groups:
        moment = moment_of(a, group, at_us)
        note = _note(moment)
        table = {"offsets": _offsets, "members": _members, "state": _state}[form](
            a, moment, at_us, is_verbose
        )
        told.append(note + table + (_offsets_note(a, group) if form == "offsets" else ""))
    return "\n".join(told)


def _offsets_note(a: Analysis, group: str) -> str:
    """What of it is reckoned; nothing where applications commit with each batch, or nobody does."""
    every = sorted(
        {
            interval_of(f)
            for f in a.header.consumers.values()
            if f.group == group and f.is_auto_commit
        }
    )
    return _OFFSETS_NOTE.format(f" ({' or '.join(map(say_duration, every))} here)") if every else ""


_OFFSETS_NOTE = (
    "\nNote: CURRENT-OFFSET is what had been committed. A trace does not tell each periodic "
    "commit: they are reckoned,\n"
    "one every auto.commit.interval.ms{} since a consumer's last assignment. It may be off by "
    "what is handled in that time.\n"
)


def _note(moment: Moment) -> str:
    if moment.state == KafkaGroupState.EMPTY:
        return f"Consumer group '{safe(moment.group)}' has no active members.\n\n"
    if moment.state in _REBALANCING:
        return f"Warning: Consumer group '{safe(moment.group)}' is rebalancing.\n\n"
    return ""


def _offsets(a: Analysis, moment: Moment, at_us: int, is_verbose: bool) -> str:
    owner = {p: m for m in moment.members.values() for p in m.partitions}
    more = ["LEADER-EPOCH"] if is_verbose else []
    header = [
        "GROUP",
        "TOPIC",
        "PARTITION",
        *more,
        "CURRENT-OFFSET",
        "LOG-END-OFFSET",
        "LAG",
        "CONSUMER-ID",
        "HOST",
        "CLIENT-ID",
    ]
    rows = []
    existing, handled = _existing(a, at_us), Handled(a, moment.group)
    committed = committed_at(a, moment.group, at_us, handled.by)
    for lane in a.lanes:
        p = lane.partition
        if lane.group != moment.group or p.number >= existing.get(p.topic, p.number + 1):
            continue
        member, offset, end = owner.get(p), committed.get(p), handled.end(p, at_us)
        rows.append(
            [
                moment.group,
                p.topic,
                str(p.number),
                *([MISSING] if is_verbose else []),
                _or_missing(offset),
                _or_missing(end),
                _or_missing(None if offset is None or end is None else max(0, end - offset)),
                _id(member),
                _host(member),
                member.consumer if member else MISSING,
            ]
        )
    return _table(header, rows, (15, 15, 10, *([15] if is_verbose else []), 15, 15, 15, 15, 15, 0))


class Handled:
    """How far partitions had been handled, and where they ended: a simulation tells what arrives
    and what waits, a recording every delivery.
    """

    def __init__(self, a: Analysis, group: str) -> None:
        self.a, self.group = a, group
        self.delivered: dict[Partition, list[tuple[int, int]]] = {}
        if not a.header.is_simulated:
            for e in a.trace.events:
                if type(e) is ev.PositionFound:
                    self._add(e.partition, e.at_us, e.offset)
                elif type(e) is ev.RecordsDelivered:
                    for p, (_, last, _) in e.batch.items():
                        self._add(p, e.at_us, last + 1)

    def _add(self, p: Partition, at_us: int, offset: int) -> None:
        found = self.delivered.setdefault(p, [])
        found.append((at_us, max(offset, found[-1][1] if found else 0)))

    def by(self, p: Partition, at_us: int) -> int | None:
        """How far it had been handled (a recording: handed out) by that instant."""
        if not self.a.header.is_simulated:
            found = self.delivered.get(p, [])
            place = bisect_right(found, at_us, key=lambda d: d[0])
            return found[place - 1][1] if place else None
        end, lag = self.end(p, at_us), self.a.lag_book.at(self.group, p, at_us)
        return None if end is None or lag is None else end - round(lag)

    def end(self, p: Partition, at_us: int) -> int | None:
        """The log's end then."""
        lag = self.a.lag_book.at(self.group, p, at_us)
        if lag is None:
            return None
        arrivals, corners = self.a.lag_book.arrivals_of(p), self.a.lag_book.corners[self.group, p]
        if not self.a.header.is_simulated or arrivals is None:
            handed = self.by(p, at_us)
            return None if handed is None else handed + round(lag)
        # what was there before the start
        before = max(0.0, corners[0][1] - arrivals.count(corners[0][0]))
        return round(arrivals.count(at_us) + before)


def _existing(a: Analysis, at_us: int) -> dict[str, int]:
    """Topics with as many partitions as they had then."""
    found = {topic: facts.partitions for topic, facts in a.header.topics.items()}
    for number in a.index.world:
        e = a.trace.events[number]
        if type(e) is ev.TopicChanged and e.at_us <= at_us:
            found[e.topic] = e.partitions
    return found


def _members(a: Analysis, moment: Moment, at_us: int, is_verbose: bool) -> str:
    statics = {
        name: f.instance_id
        for name, f in a.header.consumers.items()
        if f.instance_id is not None and name in moment.members
    }
    header = [
        "GROUP",
        "CONSUMER-ID",
        *(["GROUP-INSTANCE-ID"] if statics else []),
        "HOST",
        "CLIENT-ID",
        "#PARTITIONS",
    ]
    widths = [15, 15, *([17] if statics else []), 15, 15, 15]
    if is_verbose:
        header += ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        widths += [15, 20, 15, 20]
    rows = []
    for m in sorted(moment.members.values(), key=lambda m: (-len(m.partitions), m.consumer)):
        row = [
            moment.group,
            _id(m),
            *([statics.get(m.consumer, "")] if statics else []),
            _host(m),
            m.consumer,
            str(len(m.partitions)),
        ]
        if is_verbose:
            held = assignment_told(m.partitions)
            is_new = moment.is_new_protocol
            target = moment.target_epoch if is_new else -1
            row += [
                _or_missing(m.epoch if is_new and m.epoch >= 0 else None),
                held,
                _or_missing(target if target >= 0 else None),
                MISSING if is_new else held,
            ]
        rows.append(row)
    return _table(header, rows, tuple(widths))


def assignment_told(partitions: Sequence[Partition] | dict[Partition, None]) -> str:
    """`orders:0,1,2;payments:0`, as that tool writes it."""
    topics: dict[str, list[int]] = {}
    for p in sorted(partitions):
        topics.setdefault(p.topic, []).append(p.number)
    return (
        ";".join(f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in topics.items())
        or MISSING
    )


def _state(a: Analysis, moment: Moment, at_us: int, is_verbose: bool) -> str:
    broker = moment.coordinator
    coordinator = f"broker-{broker}:9092  ({broker})" if broker >= 0 else MISSING
    columns = [  # head, cell, width
        ("GROUP", moment.group, 15),
        ("COORDINATOR (ID)", coordinator, 25),
        ("ASSIGNMENT-STRATEGY", _assignor_told(moment), 20),
        ("STATE", moment.state, 20),
    ]
    if is_verbose:
        epochs = (moment.epoch, moment.target_epoch) if moment.is_new_protocol else (-1, -1)
        group, target = (_or_missing(epoch if epoch >= 0 else None) for epoch in epochs)
        columns += [("GROUP-EPOCH", group, 15), ("TARGET-ASSIGNMENT-EPOCH", target, 25)]
    columns.append(("#MEMBERS", str(len(moment.members)), 0))
    heads, cells, widths = zip(*columns, strict=True)
    return _table(list(heads), [list(cells)], widths)


def _assignor_told(moment: Moment) -> str:
    """A classic coordinator tells its assignor of a stable group only."""
    if not moment.is_new_protocol and moment.state != KafkaGroupState.STABLE:
        return ""
    return moment.assignor.removeprefix("server-") or MISSING


def _id(member: Membership | None) -> str:
    return MISSING if member is None else member.member_id or member.consumer


def _host(member: Membership | None) -> str:
    return MISSING if member is None else f"/{member.consumer}"


def _or_missing(value: int | None) -> str:
    return MISSING if value is None else str(value)


def _table(header: list[str], rows: list[list[str]], least: Sequence[int]) -> str:
    """Columns of at least these widths, as wide as their longest value, a blank between."""
    shown = [[safe(cell) for cell in row] for row in [header, *rows]]
    widths = [max(least[i], max(len(row[i]) for row in shown)) for i in range(len(header))]
    return (
        "\n".join(
            " ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip()
            for row in shown
        )
        + "\n"
    )
