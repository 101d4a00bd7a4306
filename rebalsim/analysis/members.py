"""What each consumer lived through."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.analysis.index import Index
from rebalsim.analysis.ownership import Holdings
from rebalsim.analysis.values import MemberLife, Pause, Span
from rebalsim.domain.callback import Callback
from rebalsim.domain.doing import Doing
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.kafka_states import KafkaClientState
from rebalsim.domain.membership import Removal
from rebalsim.trace import events as ev
from rebalsim.trace.trace import TraceHeader

_BEGIN: dict[type, Doing] = {
    ev.ConsumerStarted: Doing.STARTING,
    ev.PollingBegan: Doing.POLLING,
    ev.CloseBegan: Doing.CLOSING,
    ev.ConsumerExited: Doing.AWAY,
    ev.ConsumerFroze: Doing.FROZEN,
    ev.ConsumerThawed: Doing.POLLING,
    ev.HandlerStuck: Doing.STUCK,
    ev.HandlerReturned: Doing.POLLING,
    ev.LinkCut: Doing.CUT_OFF,
    ev.LinkHealed: Doing.POLLING,
    ev.CallbackBegan: Doing.IN_CALLBACK,
    ev.CallbackEnded: Doing.POLLING,
}


def find_members(
    index: Index, header: TraceHeader, holdings: Holdings, pauses: Sequence[Pause]
) -> list[MemberLife]:
    """Every consumer that the trace or its header knows, by group and name."""
    held: dict[str, list[tuple[int, int]]] = {}
    for found in holdings.values():
        for h in found:
            held.setdefault(h.consumer, []).append((h.started_us, h.ended_us))
    paused: dict[str, int] = {}
    for p in pauses:
        paused[p.owner_before] = paused.get(p.owner_before, 0) + p.length_us
    names = sorted(
        {**dict.fromkeys(index.by_consumer), **dict.fromkeys(header.consumers)},
        key=lambda c: (index.group_of.get(c, ""), c),
    )
    removed: dict[str, tuple[str, ...]] = {}
    for numbers in index.by_group.values():
        for n in numbers:
            e = index.events[n]
            if type(e) is ev.MemberRemoved and e.why not in (Removal.LEFT, Removal.REPLACED):
                removed[e.consumer] = (*removed.get(e.consumer, ()), e.why)
    return [
        _life(name, index, header, held.get(name, []), paused.get(name, 0), removed.get(name, ()))
        for name in names
    ]


def _life(
    name: str,
    index: Index,
    header: TraceHeader,
    held: list[tuple[int, int]],
    paused: int,
    removed: tuple[str, ...],
) -> MemberLife:
    facts = header.consumers.get(name)
    life = MemberLife(
        name,
        index.group_of.get(name, ""),
        facts.instance_id if facts is not None else None,
        0,
        (),
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        removed,
        0,
        0,
        0,
        sum(end - start for start, end in held) / 1e6,
        paused,
    )
    life.held_most, life.held_last = _most(held, index.horizon_us)
    spans: list[Span] = []
    now, since, event = Doing.AWAY, 0, -1
    owned: dict[Partition, None] = {}
    for n in index.by_consumer.get(name, ()):
        e = index.events[n]
        kind = type(e)
        _count(life, e, kind, owned)
        after = _BEGIN.get(kind)
        if (
            after is None
            or (after is Doing.CUT_OFF and not e.from_all_brokers)
            or (now is Doing.CLOSING and after in (Doing.IN_CALLBACK, Doing.POLLING))
        ):
            continue
        if e.at_us > since and after != now:
            spans.append(Span(now, since, e.at_us, event))
        if after != now:
            now, since, event = after, e.at_us, n
    if since < index.horizon_us:
        spans.append(Span(now, since, index.horizon_us, event))
    life.spans = tuple(spans)
    return life


def _count(life: MemberLife, e: ev.TraceEvent, kind: type, owned: dict[Partition, None]) -> None:
    if kind is ev.ConsumerStarted:
        life.lives = max(life.lives + 1, e.life)
    elif kind is ev.CallbackBegan:
        if e.callback == Callback.ASSIGNED:
            life.assigned += len(e.partitions)
            owned.update(dict.fromkeys(e.partitions))
        elif e.callback == Callback.REVOKED:
            life.revoked += len(e.partitions)
        else:
            life.lost += len(e.partitions)
    elif kind is ev.GenerationJoined:
        life.generations += 1
    elif kind is ev.AssignmentReceived or (
        kind is ev.MemberStateChanged
        and e.is_of_client
        and e.after == KafkaClientState.ACKNOWLEDGING
    ):
        life.rebalances += 1
    elif kind is ev.ResponseReceived:
        life.failed_rebalances += bool(e.error) and e.api in (KafkaApi.JOIN, KafkaApi.SYNC)
    elif kind is ev.PollExpired:
        life.poll_expired += 1
    elif kind is ev.Fenced:
        life.fenced += 1


def _most(held: list[tuple[int, int]], horizon_us: int) -> tuple[int, int]:
    """The most partitions held at once, and how many at the horizon."""
    changes = sorted([(start, 1) for start, _ in held] + [(end, -1) for _, end in held])
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most, sum(1 for _, end in held if end >= horizon_us)
