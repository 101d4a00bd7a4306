"""What must be known before any figure: consumers that are gone and not by their own will, groups
that were not stable when observation ended, partitions that a stable group has given to nobody, and
such as nobody could read.

Figures alone hide these. A dead consumer's partitions are soon consumed by others, a group that
never assigned anything never stands still, and the owner of a partition without a leader has not
stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from rebalsim.analysis.connect_alarms import find_copies
from rebalsim.analysis.connect_phases import worker_groups, workers_of
from rebalsim.analysis.grace_kills import find_grace_kills
from rebalsim.analysis.group_kinds import GroupTold
from rebalsim.analysis.index import NOTHING, Index
from rebalsim.analysis.ownership import Holdings
from rebalsim.analysis.rounds import EAGER
from rebalsim.analysis.torn_hand_over import find_torn
from rebalsim.analysis.values import Alarm, Disturbance, Holding, Rebalance
from rebalsim.domain.alarm import AlarmKind, AlarmReason
from rebalsim.domain.holding_end import HoldingEnd
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.life_end import LifeEnd
from rebalsim.trace import events as ev
from rebalsim.trace.trace import TraceHeader


def find_alarms(
    index: Index,
    header: TraceHeader,
    rounds: Mapping[str, Sequence[Rebalance]],
    disturbances: Sequence[Disturbance],
    holdings: Holdings,
) -> list[Alarm]:
    """Groups first, then the dead, those whose grace was too short, partitions without a leader
    and those that two had, each by time.
    """
    groups = [
        alarm
        for group in rounds
        if (
            alarm := _unowned(group, index, holdings)
            or _of_group(group, index, rounds[group], disturbances)
        )
        is not None
    ]
    dead = [alarm for name in sorted(index.by_consumer) for alarm in _deaths(name, index, header)]
    return (
        sorted(groups, key=lambda a: (a.at_us, a.group))
        + sorted(dead, key=lambda a: (a.at_us, a.consumers))
        + [
            *find_grace_kills(index),
            *_leaderless(index),
            *find_copies(index, holdings, worker_groups(header)),
            *(
                alarm
                for group in rounds
                if (alarm := _twice(group, header, rounds[group], holdings)) is not None
            ),
        ]
    )


# --------------------------------------------------------------------------------------- partitions


def _twice(
    group: str, header: TraceHeader, rounds: Sequence[Rebalance], holdings: Holdings
) -> Alarm | None:
    """Partitions that a client went on with when others had been given them: where the group turns
    eager, some give up only after the sync.
    """
    late = {
        name
        for name, facts in header.consumers.items()
        if facts.group == group and facts.habits.gives_up_after_sync
    }
    if not late:
        return None
    found = sorted(
        (
            after.started_us,
            before.ended_us - after.started_us,
            partition,
            before.consumer,
            after.consumer,
        )
        for (of, partition), held in holdings.items()
        for before, after in pairwise(held)
        if of == group and before.consumer in late and _goes_on(before, after, rounds)
    )
    if not found:
        return None
    return Alarm(
        AlarmKind.HELD_TWICE,
        group,
        found[0][0],
        tuple(dict.fromkeys(name for *_, name, _ in found)),
        "revoked-after-sync",
        tuple(sorted({name for *_, name in found})),
        -1,
        len(found),
        {"longest_us": max(length for _, length, *_ in found)},
        (),
        tuple(sorted({partition for _, _, partition, *_ in found})),
    )


def _goes_on(before: Holding, after: Holding, rounds: Sequence[Rebalance]) -> bool:
    """Whether the former owner held on after the next one had begun, in a group that was eager at
    that time.
    """
    return (
        before.how is HoldingEnd.REVOKED
        and before.ended_us > after.started_us
        and before.consumer != after.consumer
        and _is_eager(rounds, after.started_us)
    )


def _is_eager(rounds: Sequence[Rebalance], at_us: int) -> bool:
    """Was the last round that began before this instant an eager one?"""
    assignors = [r.assignor for r in rounds if r.prepared_us <= at_us]
    return bool(assignors) and assignors[-1] in EAGER


def _leaderless(index: Index) -> list[Alarm]:
    """Partitions whose replicas were all down, together as they lost and found their leaders.
    That is no pause of the group's: its owner goes on.
    """
    since: dict[Partition, int] = {}  # → number of the event that took its leader
    # (that event, the one that brought it back) → who
    found: dict[tuple[int, int], list[Partition]] = {}
    changes = [n for n in index.world if type(index.events[n]) is ev.BrokerChanged]
    for n in changes:
        now = dict.fromkeys(index.events[n].leaderless)
        for p in [p for p in since if p not in now]:
            found.setdefault((since.pop(p), n), []).append(p)
        for p in now:
            since.setdefault(p, n)
    for p, n in since.items():
        found.setdefault((n, -1), []).append(p)
    return [
        _without_leader(index, lost, back, partitions)
        for (lost, back), partitions in sorted(found.items())
    ]


def _without_leader(index: Index, lost: int, back: int, partitions: Sequence[Partition]) -> Alarm:
    e = index.events[lost]
    assert type(e) is ev.BrokerChanged
    led_us = index.events[back].at_us if back >= 0 else -1
    evidence = tuple(n for n in (lost, back) if n >= 0)
    return Alarm(
        AlarmKind.LEADERLESS,
        "",
        e.at_us,
        (),
        "",
        (),
        led_us,
        1,
        {"broker": e.broker},
        evidence,
        tuple(sorted(partitions)),
    )


# ----------------------------------------------------------------------------------------- the dead


_End = tuple[ev.ConsumerExited, int, int]  # the exit, its number, when it was started again


def _ends(name: str, index: Index) -> list[_End]:
    ends: list[_End] = []
    for n in index.by_consumer[name]:
        e = index.events[n]
        if type(e) is ev.ConsumerExited:
            ends.append((e, n, -1))
        elif type(e) is ev.ConsumerStarted and ends and ends[-1][2] < 0:
            ends[-1] = (*ends[-1][:2], e.at_us)
    return ends


def _deaths(name: str, index: Index, header: TraceHeader) -> list[Alarm]:
    """One for each error that it died of, however often; a killed process only if it stays away,
    since who restarts it knows of it.
    """
    mine = header.consumers.get(name)
    process = mine.process if mine is not None else ""
    if process and process != name and process in workers_of(header):
        return []  # a sink's consumer dies with its worker, and that is told
    found: dict[str, list[_End]] = {}
    for end in _ends(name, index):
        if end[0].how == LifeEnd.FATAL or (end[0].how == LifeEnd.KILLED and end[2] < 0):
            found.setdefault(end[0].error if end[0].how == LifeEnd.FATAL else "", []).append(end)
    others = _same_identity(name, header)
    return [
        Alarm(
            AlarmKind.DIED,
            index.group_of.get(name, ""),
            each[0][0].at_us,
            (name,),
            error,
            others if error.startswith("Fenced") else (),
            each[-1][2],
            len(each),
            {},
            tuple(n for _, n, _ in each),
            because=_setting(error, name, each[0][1], index, header),
        )
        for error, each in found.items()
    ]


def _setting(error: str, name: str, at: int, index: Index, header: TraceHeader) -> str:
    """Which of the brokers' settings refused it: they go by what the group was at that time. For a
    Kafka Streams application it is the protocol of the others.
    """
    if error not in ("GroupMaxSizeReachedException", "InconsistentGroupProtocolException"):
        return ""
    group = index.group_of.get(name, "")
    is_consumer = GroupTold(index, group).is_consumer(index.events[at].at_us)
    if error == "GroupMaxSizeReachedException":
        return "group.consumer.max.size" if is_consumer else "group.max.size"
    if name in header.consumers and header.consumers[name].is_of_streams:
        return "streams-protocol"
    if is_consumer and _speaks_with_all(name, group, header):
        return "group.consumer.migration.policy"
    return ""


def _speaks_with_all(name: str, group: str, header: TraceHeader) -> bool:
    """Does it offer an assignor that all the group's other classic clients offer?"""
    mine = header.consumers[name].assignors if name in header.consumers else ()
    others = [
        facts.assignors
        for other, facts in header.consumers.items()
        if other != name and facts.group == group and facts.assignors
    ]
    return any(all(assignor in offered for offered in others) for assignor in mine)


def _same_identity(name: str, header: TraceHeader) -> tuple[str, ...]:
    """Who else goes by its group.instance.id."""
    mine = header.consumers.get(name)
    if mine is None or mine.instance_id is None:
        return ()
    return tuple(
        c
        for c, f in sorted(header.consumers.items())
        if c != name and f.group == mine.group and f.instance_id == mine.instance_id
    )


# ------------------------------------------------------------------------------------------- groups


def _unowned(group: str, index: Index, holdings: Holdings) -> Alarm | None:
    """Partitions that nobody has though the group is stable: whose hand-over broke off, and
    since when.
    """
    torn = find_torn(index, group, holdings)
    if not torn:
        return None
    givers = tuple(dict.fromkeys(t.giver for t in torn))
    return Alarm(
        AlarmKind.UNOWNED,
        group,
        min(t.since_us for t in torn),
        givers,
        "torn-handover",
        (),
        -1,
        0,
        {},
        tuple(sorted(dict.fromkeys(t.event for t in torn))),
        tuple(t.partition for t in torn),
    )


def _of_group(
    group: str, index: Index, rounds: Sequence[Rebalance], disturbances: Sequence[Disturbance]
) -> Alarm | None:
    """The group that was not stable at the end, and why it could not become so, as far as that
    is known.
    """
    last = next((r for r in reversed(rounds) if disturbances[r.disturbance].is_open), None)
    if last is None:
        return None
    d = disturbances[last.disturbance]
    generations = sum(1 for r in rounds if r.barrier_us >= 0 and disturbances[r.disturbance] is d)
    kind = AlarmKind.NEVER_STABLE if last.is_formation else AlarmKind.NOT_STABLE
    waited = _timed_out(group, index, rounds, d)
    if waited is not None:
        return Alarm(
            kind,
            group,
            d.started_us,
            waited.consumers,
            AlarmReason.SYNC_TIMED_OUT,
            waited.others,
            -1,
            generations,
            waited.figures,
            waited.evidence,
        )
    who = (d.consumer,) if d.consumer else ()
    return Alarm(kind, group, d.started_us, who, d.trigger, (), -1, generations, {}, d.evidence)


def _timed_out(
    group: str, index: Index, rounds: Sequence[Rebalance], d: Disturbance
) -> Alarm | None:
    """Followers whose SyncGroup ran into request.timeout.ms while the leader still had the
    assignment to make: they join again, and all begins anew.
    """
    for r in rounds:
        if r.barrier_us < d.started_us or not r.leader:
            continue
        asked = {name: _gave_up_waiting(name, index, r) for name in index.members_of(group)}
        waits = {name: wait for name, wait in asked.items() if wait and name != r.leader}
        if waits:
            first = next(iter(waits.values()))
            figures = {"waited_us": first[0], "computed_us": _computed(r, index)}
            return Alarm(
                AlarmKind.NOT_STABLE,
                group,
                -1,
                tuple(waits),
                "",
                (r.leader,),
                -1,
                0,
                figures,
                tuple(n for _, n in waits.values()),
            )
    return None


def _gave_up_waiting(name: str, index: Index, r: Rebalance) -> tuple[int, int] | None:
    """How long this member waited for the round's assignment until its request timed out, and the
    number of that event.
    """
    sent = -1
    for n in index.since(index.by_consumer.get(name, NOTHING), r.barrier_us):
        e = index.events[n]
        kind = type(e)
        if kind is ev.RequestSent and e.api == KafkaApi.SYNC and e.generation == r.generation:
            sent = e.at_us
        elif sent >= 0 and kind is ev.CoordinatorLost and e.why == "request timed out":
            return e.at_us - sent, n
        elif (sent >= 0 and kind is ev.AssignmentReceived) or (
            kind is ev.GenerationJoined and e.generation > r.generation
        ):
            return None
    return None


def _computed(r: Rebalance, index: Index) -> int:
    """How long the leader took from its JoinGroup's answer to its SyncGroup; −1 if it never sent
    one.
    """
    numbers, led = index.by_consumer.get(r.leader, NOTHING), -1
    for n in index.since(numbers, r.barrier_us):
        e = index.events[n]
        if type(e) is ev.GenerationJoined and led < 0:
            led = e.at_us
        elif type(e) is ev.RequestSent and e.api == KafkaApi.SYNC and led >= 0:
            return e.at_us - led
    return -1
