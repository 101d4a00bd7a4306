"""What `kafka-consumer-groups --describe` would have shown at an instant, in its columns: offsets, --members, --state, each with --verbose.

Looked up in the trace and its analysis; what a trace does not tell is `-`, as it is there for what the group does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rebalsim.analysis import Analysis
from rebalsim.domain.ids import Partition
from rebalsim.reports.names import safe
from rebalsim.trace import events as ev

MISSING = "-"
_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")


@dataclass(slots=True)
class Membership:
    """A member as the group knew it at the instant."""

    consumer: str
    member_id: str = ""
    epoch: int = -1
    partitions: dict[Partition, None] = field(default_factory=dict)
    target_epoch: int = -1


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
    state = next((s.state for s in a.group_states.get(group, ()) if s.started_us <= at_us < s.ended_us), "Empty")
    moment = Moment(group, state, {})
    moment.is_new_protocol = any(f.group == group and f.protocol == "consumer" for f in a.header.consumers.values())
    for number in a.index.of_group(group):
        e = a.trace.events[number]
        if e.at_us > at_us:
            break
        _tell(moment, e)
    for (of, p), holdings in a.holdings.items():
        for h in holdings if of == group else ():
            if h.started_us <= at_us < h.ended_us and h.consumer in moment.members:
                moment.members[h.consumer].partitions[p] = None
    return moment


def _tell(moment: Moment, e: ev.TraceEvent) -> None:
    kind, members = type(e), moment.members
    if kind is ev.MemberAdded:
        if e.how != "pending":
            members[e.consumer] = Membership(e.consumer, e.member_id)
    elif kind is ev.MemberRemoved:
        if e.why != "replaced":
            members.pop(e.consumer, None)
    elif kind is ev.GenerationJoined:
        member = members.setdefault(e.consumer, Membership(e.consumer))
        member.member_id, member.epoch = e.member_id or member.member_id, e.generation
        moment.assignor, moment.epoch = e.assignor or moment.assignor, max(moment.epoch, e.generation)
    elif kind is ev.LeaveSent:
        members.pop(e.consumer, None)
    elif kind is ev.BarrierCompleted:
        moment.assignor, moment.epoch = e.assignor or moment.assignor, e.generation
    elif kind is ev.EpochBumped:
        moment.epoch = e.epoch
    elif kind is ev.AssignmentComputed:
        moment.assignor, moment.target_epoch = e.assignor or moment.assignor, e.generation
    elif kind is ev.MemberStateChanged and e.consumer in members:
        members[e.consumer].epoch = max(members[e.consumer].epoch, e.epoch)
    elif kind is ev.CoordinatorMoved or (kind is ev.CoordinatorFound and moment.coordinator < 0):
        moment.coordinator = e.broker


def render(a: Analysis, at_us: int, form: str, is_verbose: bool, groups: Sequence[str] = ()) -> str:
    """`form` is offsets, members or state; every group of the trace, or those named."""
    told = []
    for group in groups or a.groups:
        moment = moment_of(a, group, at_us)
        note = _note(moment)
        table = {"offsets": _offsets, "members": _members, "state": _state}[form](a, moment, at_us, is_verbose)
        told.append(note + table)
    return "\n".join(told)


def _note(moment: Moment) -> str:
    if moment.state == "Empty":
        return f"Consumer group '{safe(moment.group)}' has no active members.\n\n"
    if moment.state in _REBALANCING:
        return f"Warning: Consumer group '{safe(moment.group)}' is rebalancing.\n\n"
    return ""


def _offsets(a: Analysis, moment: Moment, at_us: int, is_verbose: bool) -> str:
    owner = {p: m for m in moment.members.values() for p in m.partitions}
    more = ["LEADER-EPOCH"] if is_verbose else []
    header = ["GROUP", "TOPIC", "PARTITION", *more, "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"]
    rows = []
    handled = _handled(a, at_us)
    for lane in a.lanes:
        if lane.group != moment.group:
            continue
        p = lane.partition
        member = owner.get(p)
        lag = a.lag_book.at(moment.group, p, at_us)
        offset = handled.get(p)
        end = offset + round(lag) if offset is not None and lag is not None else None
        rows.append([
            moment.group, p.topic, str(p.number), *([MISSING] if is_verbose else []), _or_missing(offset), _or_missing(end),
            _or_missing(None if lag is None else round(lag)), _id(member), _host(member), member.consumer if member else MISSING,
        ])
    return _table(header, rows, (15, 15, 10, *([15] if is_verbose else []), 15, 15, 15, 15, 15, 0))


def _handled(a: Analysis, at_us: int) -> dict[Partition, int]:
    """How far each partition had been handed out by then, where the trace tells."""
    found: dict[Partition, int] = {}
    for e in a.trace.events:
        if e.at_us > at_us:
            break
        if type(e) is ev.PositionFound:
            found[e.partition] = max(e.offset, found.get(e.partition, 0))
        elif type(e) is ev.RecordsDelivered:
            for p, (_, last, _) in e.batch.items():
                found[p] = max(last + 1, found.get(p, 0))
    return found


def _members(a: Analysis, moment: Moment, at_us: int, is_verbose: bool) -> str:
    statics = {name: f.instance_id for name, f in a.header.consumers.items() if f.instance_id is not None and name in moment.members}
    header = ["GROUP", "CONSUMER-ID", *(["GROUP-INSTANCE-ID"] if statics else []), "HOST", "CLIENT-ID", "#PARTITIONS"]
    widths = [15, 15, *([17] if statics else []), 15, 15, 15]
    if is_verbose:
        header += ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        widths += [15, 20, 15, 20]
    rows = []
    for m in sorted(moment.members.values(), key=lambda m: (-len(m.partitions), m.consumer)):
        row = [moment.group, _id(m), *([statics.get(m.consumer, "")] if statics else []), _host(m), m.consumer, str(len(m.partitions))]
        if is_verbose:
            held = assignment_told(m.partitions)
            is_new = moment.is_new_protocol
            target = moment.target_epoch if is_new else -1
            row += [_or_missing(m.epoch if is_new and m.epoch >= 0 else None), held, _or_missing(target if target >= 0 else None), MISSING if is_new else held]
        rows.append(row)
    return _table(header, rows, tuple(widths))


def assignment_told(partitions: Sequence[Partition] | dict[Partition, None]) -> str:
    """`orders:0,1,2;payments:0`, as that tool writes it."""
    topics: dict[str, list[int]] = {}
    for p in sorted(partitions):
        topics.setdefault(p.topic, []).append(p.number)
    return ";".join(f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in topics.items()) or MISSING


def _state(a: Analysis, moment: Moment, at_us: int, is_verbose: bool) -> str:
    header = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", *(["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"] if is_verbose else []), "#MEMBERS"]
    coordinator = f"broker-{moment.coordinator}:9092  ({moment.coordinator})" if moment.coordinator >= 0 else MISSING
    row = [moment.group, coordinator, moment.assignor.removeprefix("server-") or MISSING, moment.state]
    if is_verbose:
        epoch, target = (moment.epoch, moment.target_epoch) if moment.is_new_protocol else (-1, -1)
        row += [_or_missing(epoch if epoch >= 0 else None), _or_missing(target if target >= 0 else None)]
    return _table(header, [[*row, str(len(moment.members))]], (15, 25, 20, 20, *([15, 25] if is_verbose else []), 0))


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
    return "\n".join(" ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in shown) + "\n"
