"""A report as Chrome trace-event JSON for ui.perfetto.dev: script, coordinator, members and
partitions as tracks, a JoinGroup and its SyncGroup joined by a flow, lag as counters. Times are
µs, as that format wants them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rebalsim.analysis import Analysis
from rebalsim.analysis.group_kinds import GroupTold
from rebalsim.domain.bar_piece import BarPiece
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.mark_kind import MarkKind
from rebalsim.outside.text import inert_data
from rebalsim.reports.names import safe
from rebalsim.reports.report import Report, VariantReport
from rebalsim.trace import events as ev

Event = dict[str, Any]
# the processes of a variant, in the order in which they are shown
SCRIPT, COORDINATOR, MEMBERS, PARTITIONS = range(1, 5)
_TITLES = {
    SCRIPT: "script",
    COORDINATOR: "coordinator",
    MEMBERS: "members",
    PARTITIONS: "partitions",
}
_FLOWING = (KafkaApi.JOIN, KafkaApi.SYNC)
Asked = tuple[str, int, int, str, int]  # api, sent, answered, error, event


def render(report: Report) -> str:
    """One event a line within the document."""
    events = [
        event
        for place, v in enumerate(report.variants)
        for event in _variant(place, v, len(report.variants) > 1)
    ]
    head = {
        "displayTimeUnit": "ms",
        "otherData": {"title": report.title, "rebalsim": report.version, "command": report.command},
    }
    body = ",\n".join(
        json.dumps(inert_data(e), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        for e in events
    )
    return (
        json.dumps(inert_data(head), ensure_ascii=False)[:-1] + f', "traceEvents": [\n{body}\n]}}\n'
    )


def _variant(place: int, v: VariantReport, is_named: bool) -> Iterator[Event]:
    base = place * 10
    for kind, title in _TITLES.items():
        yield _meta(
            "process_name", base + kind, 0, name=f"{safe(v.name)}: {title}" if is_named else title
        )
        yield _meta("process_sort_index", base + kind, 0, sort_index=base + kind)
    yield from _script(base + SCRIPT, v.analysis)
    yield from _coordinator(base + COORDINATOR, v.analysis)
    yield from _members(base + MEMBERS, v.analysis)
    yield from _partitions(base + PARTITIONS, v.analysis)


def _meta(what: str, pid: int, tid: int, **args: Any) -> Event:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": args}


def _track(pid: int, tid: int, name: str) -> Iterator[Event]:
    yield _meta("thread_name", pid, tid, name=safe(name))
    yield _meta("thread_sort_index", pid, tid, sort_index=tid)


def _slice(
    what: str, category: str, pid: int, tid: int, started_us: int, ended_us: int, **args: Any
) -> Event:
    return {
        "name": what,
        "cat": category,
        "ph": "X",
        "ts": started_us,
        "dur": ended_us - started_us,
        "pid": pid,
        "tid": tid,
        "args": args,
    }


def _instant(what: str, category: str, pid: int, tid: int, at_us: int, **args: Any) -> Event:
    return {
        "name": what,
        "cat": category,
        "ph": "i",
        "s": "p",
        "ts": at_us,
        "pid": pid,
        "tid": tid,
        "args": args,
    }


def _script(pid: int, a: Analysis) -> Iterator[Event]:
    yield from _track(pid, 1, "script")
    for m in a.marks:
        if m.kind is not MarkKind.REBALANCE:
            yield _instant(
                safe(m.text or m.action), m.kind, pid, 1, m.at_us, action=m.action, event=m.event
            )


def _coordinator(pid: int, a: Analysis) -> Iterator[Event]:
    for tid, (group, spans) in enumerate(a.group_states.items(), 1):
        yield from _track(pid, tid, group)
        told = GroupTold(a.index, group)
        for s in spans:
            kinds = told.within(s.started_us, s.started_us + 1)
            counter = "epoch" if kinds and kinds[0][1] else "generation"
            yield _slice(
                safe(s.state),
                "state",
                pid,
                tid,
                s.started_us,
                s.ended_us,
                **{counter: s.generation},
            )
        for r in a.rebalances:
            if r.group == group and r.barrier_us >= 0:
                yield _instant(
                    f"rebalance {r.generation}",
                    "rebalance",
                    pid,
                    tid,
                    r.barrier_us,
                    trigger=r.trigger,
                    consumer=r.trigger_consumer,
                    completed_by=r.completed_by,
                    last=r.last,
                    moved=r.moved,
                    least=r.least,
                )


def _members(pid: int, a: Analysis) -> Iterator[Event]:
    """Two tracks a member: what its process did, and its conversation about rebalances."""
    for place, m in enumerate(a.members):
        life, talk = 2 * place + 1, 2 * place + 2
        yield from _track(pid, life, m.consumer)
        yield from _track(pid, talk, f"{m.consumer} joins")
        for span in m.spans:
            yield _slice(
                span.what, "life", pid, life, span.started_us, span.ended_us, event=span.event
            )
        yield from _joins(pid, talk, m.consumer, a)


def _joins(pid: int, tid: int, consumer: str, a: Analysis) -> Iterator[Event]:
    """JoinGroup and SyncGroup as slices that never overlap; a flow leads from each JoinGroup to
    the SyncGroup that follows it.
    """
    asked = _on_the_wire(consumer, a) or _as_told(consumer, a)
    for i, (api, sent, answered, error, number) in enumerate(asked):
        ended = min(answered, asked[i + 1][1]) if i + 1 < len(asked) else answered
        yield _slice(api, "request", pid, tid, sent, max(sent, ended), error=error, event=number)
        if (
            i + 1 < len(asked)
            and api == KafkaApi.JOIN
            and not error
            and asked[i + 1][0] == KafkaApi.SYNC
        ):
            flow = {
                "name": "join",
                "cat": "join",
                "id": pid * 1_000_000 + tid * 1_000 + i,
                "pid": pid,
                "tid": tid,
            }
            yield {**flow, "ph": "s", "ts": sent}
            yield {**flow, "ph": "f", "bp": "e", "ts": asked[i + 1][1]}


def _on_the_wire(consumer: str, a: Analysis) -> list[Asked]:
    """From the requests and their answers, where the trace holds them (recordings, and runs that
    keep the whole wire).
    """
    asked: list[Asked] = []
    numbers: list[int] = []
    for number in a.index.by_consumer.get(consumer, ()):
        e = a.trace.events[number]
        if type(e) is ev.RequestSent and e.api in _FLOWING:
            asked.append((e.api, e.at_us, a.horizon_us, "", number))
            numbers.append(e.number)
        elif type(e) is ev.ResponseReceived and e.api in _FLOWING:
            for i in range(len(asked) - 1, -1, -1):
                api, sent, _, _, at = asked[i]
                if (api, numbers[i]) == (e.api, e.number):
                    asked[i] = api, sent, e.at_us, e.error, at
                    break
    return asked


def _as_told(consumer: str, a: Analysis) -> list[Asked]:
    """From what came of them: parked at the barrier, the generation joined, the assignment
    received.
    """
    asked: list[Asked] = []
    parked, joined = -1, -1
    for number in a.index.by_consumer.get(consumer, ()):
        e = a.trace.events[number]
        kind = type(e)
        if kind in (ev.MemberRejoined, ev.MemberAdded) and parked < 0:
            parked = number
        elif kind is ev.GenerationJoined and parked >= 0:
            asked.append((KafkaApi.JOIN, a.trace.events[parked].at_us, e.at_us, "", parked))
            parked, joined = -1, number
        elif kind is ev.AssignmentReceived and joined >= 0:
            asked.append((KafkaApi.SYNC, a.trace.events[joined].at_us, e.at_us, "", joined))
            joined = -1
        elif kind in (ev.MemberReset, ev.ConsumerExited):
            parked = joined = -1
    return asked


def _partitions(pid: int, a: Analysis) -> Iterator[Event]:
    several = len(a.groups) > 1
    for tid, lane in enumerate(a.lanes, 1):
        name = f"{lane.group} {lane.partition}" if several else str(lane.partition)
        yield from _track(pid, tid, name)
        for s in lane.segments:
            if s.what is BarPiece.CONSUMING:
                yield _slice(safe(s.consumer), s.what, pid, tid, s.started_us, s.ended_us)
        for p in lane.pauses:
            yield _slice(
                "paused",
                "pause",
                pid,
                tid,
                p.started_us,
                p.ended_us,
                cause=p.cause.kind,
                consumer=p.cause.consumer,
                action=p.cause.action,
                is_open=p.is_open,
                owner_before=p.owner_before,
                owner_after=p.owner_after,
            )
            for phase in p.phases:
                f = phase.facts
                yield _slice(
                    phase.kind.value,
                    "phase",
                    pid,
                    tid,
                    phase.started_us,
                    phase.ended_us,
                    consumer=f.consumer,
                    doing=f.doing,
                    timer=f.timer,
                    evidence=list(phase.evidence),
                )
    for curve in a.lag:
        name = f"lag {safe(curve.group) + ' ' if several else ''}{safe(str(curve.partition))}"
        for at, lag in curve.corners:
            yield {
                "name": name,
                "cat": "lag",
                "ph": "C",
                "ts": at,
                "pid": pid,
                "tid": 0,
                "args": {"records": round(lag, 1)},
            }
