"""Several members' logs (and a broker's, if there is one) joined into one trace: what an operator
has after an incident.

Deliveries leave no line; all else that a recording tells is here: requests to join, generations,
callbacks, positions, leaves. Clocks are taken as they are. A life begins with `Subscribed to`, a
callback ends with the next line of its thread, and who fell silent without a goodbye died (or
froze, if it spoke again) when the broker must have heard of it last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.trace import broker_lines
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.gzipped import lines_of
from rebalsim.trace.log_files import Log, Voice, read_log, voices_in
from rebalsim.trace.recording import assignor_names, protocol_of
from rebalsim.trace.speech import Speech
from rebalsim.trace.trace import ConsumerFacts, TopicFacts, Trace, TraceHeader

SESSION_US, MS = 45_000_000, 1_000


def read_logs(paths: Sequence[Path], group: str = "") -> Trace:
    """The trace that these files tell together; of one group where `group` names it."""
    return join_logs([(str(path), lines_of(path)) for path in paths], group)


def join_logs(files: Iterable[tuple[str, Iterable[str]]], group: str = "") -> Trace:
    """The same from (name, lines) pairs."""
    logs = [read_log(name, lines) for name, lines in files]
    voices = voices_in(logs, group)
    groups = dict.fromkeys(v.group for v in voices) or ({group: None} if group else {})
    events: list[TraceEvent] = []
    names: dict[str, str] = {}
    for voice in voices:
        told = Speech(voice).tell()
        for e in told:
            if type(e) is ev.GenerationJoined and e.member_id:
                names[e.member_id] = voice.name
        for line in voice.lines:
            if (found := re.match(r"Member (\S{1,400}) with epoch ", line.text)) is not None:
                names[found[1]] = voice.name
        events += told
    by_instance = {v.instance: v.name for v in voices if v.instance}
    known = {v.name: None for v in voices}
    broker = _broker_events(logs, groups, _namer(names, by_instance))
    if not events and not broker:
        where = ", ".join(log.name for log in logs[:3])
        wanted = f" of group {group}" if group else ""
        raise InputError(
            f"{where}: no line{wanted} is a Kafka consumer's or a group coordinator's — give "
            "their logs at level INFO"
        )
    events += broker
    events += _silences(voices, events, broker)
    events.sort(key=lambda e: e.at_us)
    start = events[0].at_us
    for e in events:
        e.at_us -= start
    header = _header(logs, voices, events, known)
    return Trace(header, events)


def _namer(names: dict[str, str], by_instance: dict[str, str]) -> broker_lines.Names:
    def name(member_id: str) -> str:
        if member_id in names:
            return names[member_id]
        stem = broker_lines.named_by_id(member_id)
        return by_instance.get(stem, stem)

    return name


def _broker_events(
    logs: Sequence[Log], groups: dict[str, None], name: broker_lines.Names
) -> list[TraceEvent]:
    """What the coordinator's lines tell of these groups (of all, where no client speaks); why an
    epoch grew is told by the line before.
    """
    found: list[TraceEvent] = []
    triggers: dict[str, tuple[str, str, int]] = {}
    states: dict[str, str] = {}
    for line in sorted(
        (x for log in logs for x in log.lines if x.is_broker), key=lambda x: x.at_us
    ):
        for e in broker_lines.events_of(line, name):
            if groups and e.group not in groups:
                continue
            kind = type(e)
            if kind is ev.MemberAdded and e.how in ("new", "static"):
                triggers[e.group] = ("joined", e.consumer, e.at_us)
            elif kind is ev.MemberRemoved:
                why = (
                    "session-expired"
                    if e.why == "session-expired"
                    else "poll-expired"
                    if "poll timeout has expired" in line.text
                    else "left"
                )
                triggers[e.group] = (why, e.consumer, e.at_us)
            elif kind is ev.EpochBumped:
                trigger, consumer, at = triggers.pop(e.group, ("", "", -1))
                fits = at >= 0 and e.at_us - at <= 50 * MS
                e.trigger, e.consumer = (trigger, consumer) if fits else ("metadata-changed", "")
            elif kind is ev.GroupStateChanged:
                e.before = states.get(e.group, e.before or "Empty")
                if e.trigger == "left" and triggers.get(e.group, ("", "", 0))[0] == "poll-expired":
                    e.trigger = "poll-expired"
                states[e.group] = e.after
            found.append(e)
    return found


def _silences(
    voices: Sequence[Voice], events: Sequence[TraceEvent], broker: Sequence[TraceEvent]
) -> list[TraceEvent]:
    """Who was removed because its session ran out had fallen silent a session before: dead, or
    frozen if it spoke again in the same life.
    """
    found: list[TraceEvent] = []
    lines = {v.name: [line.at_us for line in v.lines] for v in voices}
    session = {
        v.name: int(v.config.get("session.timeout.ms", SESSION_US // MS)) * MS
        if v.config.get("session.timeout.ms", "0").isdigit()
        else SESSION_US
        for v in voices
    }
    ends: dict[str, list[TraceEvent]] = {}
    for e in events:
        if type(e) in (ev.ConsumerStarted, ev.ConsumerExited):
            ends.setdefault(e.consumer, []).append(e)
    for e in broker:
        if type(e) is not ev.MemberRemoved or e.why != "session-expired" or e.consumer not in lines:
            continue
        spoke = [at for at in lines[e.consumer] if at <= e.at_us]
        if not spoke:
            continue
        silent = min(max(spoke[-1], e.at_us - session[e.consumer]), e.at_us)
        last = max(
            (x for x in ends.get(e.consumer, ()) if x.at_us <= e.at_us),
            key=lambda x: x.at_us,
            default=None,
        )
        if type(last) is ev.ConsumerExited:
            continue
        after = next((at for at in lines[e.consumer] if at > e.at_us), None)
        reborn = (
            after is not None
            and any(
                type(x) is ev.ConsumerExited and x.at_us >= e.at_us
                for x in ends.get(e.consumer, ())
            )
            and any(
                type(x) is ev.ConsumerStarted and x.at_us == after for x in ends.get(e.consumer, ())
            )
        )
        if after is None or reborn:
            found.append(ev.ConsumerExited(silent, e.consumer, getattr(last, "life", 1), "killed"))
        else:
            found += [ev.ConsumerFroze(silent, e.consumer), ev.ConsumerThawed(after, e.consumer)]
    return found


# --------------------------------------------------------------------------------------- the header


def _header(
    logs: Sequence[Log],
    voices: Sequence[Voice],
    events: Sequence[TraceEvent],
    known: dict[str, None],
) -> TraceHeader:
    topics: dict[str, int] = {}
    assignor: dict[str, str] = {}
    is_new: dict[str, None] = {}
    for e in events:
        kind = type(e)
        if kind is ev.CallbackBegan:
            for p in e.partitions:
                topics[p.topic] = max(topics.get(p.topic, 0), p.number + 1)
        elif kind is ev.GenerationJoined and e.assignor:
            assignor[e.consumer] = e.assignor
        elif kind is ev.MemberStateChanged:
            is_new[e.consumer] = None
    facts = {
        v.name: _facts(v, assignor.get(v.name, ""), v.name in is_new)
        for v in sorted(voices, key=lambda v: v.name)
    }
    protocols = dict.fromkeys(f.protocol for f in facts.values() if f.protocol)
    return TraceHeader(
        source="logs",
        title=", ".join(dict.fromkeys(v.group for v in voices)),
        variant="logs",
        heading=" and ".join(protocols),
        kafka=next((log.kafka for log in logs if log.kafka), ""),
        horizon_us=events[-1].at_us + 1,
        topics={name: TopicFacts(topics[name]) for name in sorted(topics)},
        consumers=facts,
    )


def _facts(v: Voice, assignor: str, is_new: bool) -> ConsumerFacts:
    def us(key: str) -> int:
        value = v.config.get(key, "")
        return int(value) * MS if value.isdigit() and len(value) < 13 else -1

    offered = v.config.get("partition.assignment.strategy", "")
    assignors: Any = (
        assignor_names(re.sub(r"class |[\[\] ]", "", offered))
        if offered and not is_new
        else (assignor,)
        if assignor
        else ()
    )
    protocol = "consumer" if is_new else protocol_of(assignors) if assignors else ""
    commit = {"true": True, "false": False}.get(v.config.get("enable.auto.commit", ""))
    return ConsumerFacts(
        group=v.group,
        client="java",
        protocol=protocol,
        assignors=assignors,
        instance_id=v.instance,
        session_timeout_us=us("session.timeout.ms"),
        heartbeat_interval_us=us("heartbeat.interval.ms"),
        max_poll_interval_us=us("max.poll.interval.ms"),
        is_auto_commit=commit,
        auto_commit_us=us("auto.commit.interval.ms"),
    )
