"""Several members' logs (and a broker's, if there is one) joined into one trace: what an operator has after an incident.

Deliveries leave no line; all else that a recording tells is here: requests to join, generations, callbacks, positions, leaves. Clocks are taken as
they are. A life begins with `Subscribed to`, a callback ends with the next line of its thread, and who fell silent without a goodbye died (or
froze, if it spoke again) when the broker must have heard of it last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import Partition
from rebalsim.trace import broker_lines, client_lines
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.gzipped import lines_of
from rebalsim.trace.log_lines import LogLine, take_apart
from rebalsim.trace.recording import assignor_names, protocol_of
from rebalsim.trace.trace import ConsumerFacts, TopicFacts, Trace, TraceHeader

SESSION_US, MS = 45_000_000, 1_000
MOST_CONTINUED = 400                # lines that belong to one log line, at most
_CONFIG = re.compile(r"^\s+([a-z][a-z.]{3,60}) = (.{0,400})$")
_AFTER_CALLBACK = re.compile(
    r"\(Re-\)joining group|Request joining group due to: (?:need to revoke|consumer pro-actively)|Notifying assignor|Adding newly assigned|"
    r"Resetting generation|Member \S{1,400} sending LeaveGroup|Setting offset for partition|Found no committed offset|Resetting offset for partition|"
    r"User provided listener")
_VERSION = re.compile(r"^Kafka version: (\d[\w.-]{0,40})")


@dataclass(slots=True)
class _Log:
    """One file's lines, and what it says about its only client."""

    name: str
    lines: list[LogLine] = field(default_factory=list)
    config: dict[str, str] = field(default_factory=dict)
    kafka: str = ""


@dataclass(slots=True)
class _Voice:
    """One consumer's lines over all files that speak for it, in order of time."""

    name: str
    group: str
    lines: list[LogLine]
    instance: str | None = None
    config: dict[str, str] = field(default_factory=dict)


def read_logs(paths: Sequence[Path], group: str = "") -> Trace:
    """The trace that these files tell together; of one group where `group` names it."""
    return join_logs([(str(path), lines_of(path)) for path in paths], group)


def join_logs(files: Iterable[tuple[str, Iterable[str]]], group: str = "") -> Trace:
    """The same from (name, lines) pairs."""
    logs = [_read(name, lines) for name, lines in files]
    voices = _voices(logs, group)
    groups = dict.fromkeys(v.group for v in voices) or ({group: None} if group else {})
    events: list[TraceEvent] = []
    names: dict[str, str] = {}
    for voice in voices:
        told = _spoken(voice)
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
        raise InputError(f"{where}: no line{wanted} is a Kafka consumer's or a group coordinator's — give their logs at level INFO")
    events += broker
    events += _silences(voices, events, broker)
    events.sort(key=lambda e: e.at_us)
    start = events[0].at_us
    for e in events:
        e.at_us -= start
    header = _header(logs, voices, events, known)
    return Trace(header, events)


# ---------------------------------------------------------------------------------------------------- files to lines


def _read(name: str, lines: Iterable[str]) -> _Log:
    log = _Log(name)
    client, continued, is_config = "", 0, False
    by_thread: dict[str, LogLine] = {}
    for raw in lines:
        line = take_apart(raw)
        if line is None:
            config = _CONFIG.match(raw.rstrip("\r\n")) if is_config else None
            if config is not None:
                log.config.setdefault(config[1], config[2])
            elif log.lines and raw[:1] in ("\t", " ") and continued < MOST_CONTINUED:
                continued += 1
                log.lines[-1].text += "\n" + raw.rstrip("\r\n")[:2_000]
            continue
        is_config, continued = "ConsumerConfig values" in line.text, 0
        version = _VERSION.match(line.text)
        if version is not None:
            log.kafka = version[1]
        if line.client:
            client = line.client
            by_thread[line.thread] = line
        elif not line.is_broker:
            same = by_thread.get(line.thread)                  # some loggers know no prefix: the thread's last speaker it was
            if same is not None:
                line.client, line.group, line.instance = same.client, same.group, same.instance
            else:
                line.client = client
        if line.client or line.is_broker:
            log.lines.append(line)
    return log


def _voices(logs: Sequence[_Log], group: str) -> list[_Voice]:
    """Consumers by name. One client id in several files is one consumer with several lives, unless the files speak at the same time."""
    parts: dict[tuple[str, str], list[tuple[list[LogLine], _Log]]] = {}
    for log in logs:
        mine: dict[tuple[str, str], list[LogLine]] = {}
        owner: dict[str, str] = {}
        for line in log.lines:
            if line.is_broker:
                continue
            if line.group:
                owner[line.client] = line.group
            of = line.group or owner.get(line.client, "")
            if of and (not group or of == group):
                mine.setdefault((of, line.client), []).append(line)
        for key, lines in mine.items():
            lines.sort(key=lambda x: x.at_us)
            parts.setdefault(key, []).append((lines, log))
    voices: list[_Voice] = []
    for (of, client), found in sorted(parts.items()):
        found.sort(key=lambda part: part[0][0].at_us)
        overlap = any(a[0][-1].at_us > b[0][0].at_us for a, b in pairwise(found))
        chunks = [[part] for part in found] if overlap else [found]
        for chunk in chunks:
            lines = [line for part in chunk for line in part[0]]
            name = f"{client}@{Path(chunk[0][1].name).stem}" if overlap else client
            config = {key: value for part in chunk for key, value in part[1].config.items()}
            instance = next((line.instance for line in lines if line.instance), None)
            voices.append(_Voice(name or "consumer", of, lines, instance, config))
    seen: dict[str, int] = {}
    for voice in voices:                                       # the same client id in two groups
        seen[voice.name] = seen.get(voice.name, 0) + 1
        if seen[voice.name] > 1:
            voice.name = f"{voice.name}@{voice.group}"
    return voices


# ---------------------------------------------------------------------------------------------------- lines to events


class _Speech:
    """One consumer's lines turned into events."""

    def __init__(self, voice: _Voice) -> None:
        self.voice = voice
        self.out: list[TraceEvent] = []
        self.life = 0
        self.is_gone = True
        self.is_leaving = False
        self.entered: tuple[ev.CallbackBegan, str] | None = None
        self.owned: dict[Partition, None] = {}
        self.synced: ev.AssignmentReceived | None = None
        self.revoking: tuple[int, tuple[Partition, ...]] | None = None
        self.adding: tuple[int, tuple[Partition, ...]] | None = None
        self.last_us = -1

    def tell(self) -> list[TraceEvent]:
        for line in self.voice.lines:
            line = replace(line, client=self.voice.name)
            self._leave_callback(line)
            self._hear(line)
            self.last_us = line.at_us
        self._close_callback(-1)
        if self.is_leaving and not self.is_gone:
            self._gone(self.last_us, "closed")
        return self.out

    def _hear(self, line: LogLine) -> None:
        self._hear_lists(line)
        for e in client_lines.events_of(line):
            kind = type(e)
            if kind is ev.ConsumerStarted:
                self._begin(line.at_us)
                continue
            if self.is_gone:
                self._begin(line.at_us)
            if kind is ev.CallbackBegan:
                self._enter(e, line.thread)
                continue
            if kind is ev.AssignmentReceived:
                self.synced = e
                e.partitions = tuple(sorted(self.owned))
            elif kind is ev.MemberStateChanged:
                e.group = self.voice.group
                self._without_listener(e)
                self.is_leaving = e.after in ("LEAVING", "UNSUBSCRIBED") and "poll" not in self.out[-1].__class__.__name__.lower()
            elif kind is ev.LeaveSent:
                self.is_leaving = "closed" in e.reason or "unsubscribed" in e.reason
            elif kind is ev.MemberReset and "pro-actively leaving" in e.reason:
                self.is_leaving = self.is_leaving or not self._has_overrun()
            elif kind is ev.RequestSent:
                self.is_leaving = False
            elif kind is ev.AssignmentComputed:
                e.group = self.voice.group
            self.out.append(e)

    def _has_overrun(self) -> bool:
        return any(type(e) is ev.PollExpired for e in self.out[-4:])

    def _begin(self, at: int) -> None:
        if not self.is_gone:
            self._gone(self.last_us, "closed" if self.is_leaving else "killed")
        self.life += 1
        self.is_gone = self.is_leaving = False
        self.out += [ev.ConsumerStarted(at, self.voice.name, self.life), ev.PollingBegan(at, self.voice.name, self.life)]

    def _gone(self, at: int, how: str) -> None:
        self._close_callback(-1)
        self.out.append(ev.ConsumerExited(at, self.voice.name, self.life, how))
        self.is_gone = True
        self.owned.clear()
        self.synced = None

    # the listener's callbacks: entered with a line, left with the next one of that thread
    def _enter(self, e: ev.CallbackBegan, thread: str) -> None:
        self.entered = (e, thread)
        self.out.append(e)
        if not e.partitions:
            self._close_callback(e.at_us)
        for p in e.partitions:
            if e.callback == "assigned":
                self.owned[p] = None
            else:
                self.owned.pop(p, None)
        if e.callback == "assigned" and self.synced is not None:
            self.synced.partitions = tuple(sorted(self.owned))
            self.synced = None
        if e.callback == "revoked":
            self.revoking = None
        elif e.callback == "assigned":
            self.adding = None

    def _leave_callback(self, line: LogLine) -> None:
        """What Kafka prints right after a callback bounds it; any other line says nothing about how long it took."""
        if self.entered is None:
            return
        bounds = _AFTER_CALLBACK.match(line.text) is not None
        if (bounds and line.thread == self.entered[1]) or line.text.endswith("from RECONCILING to ACKNOWLEDGING."):
            self._close_callback(line.at_us)
        elif not bounds and (line.thread == self.entered[1] or not line.thread):
            self._close_callback(self.entered[0].at_us)

    def _close_callback(self, at: int) -> None:
        if self.entered is not None:
            e = self.entered[0]
            self.out.append(ev.CallbackEnded(max(at, e.at_us), e.consumer, e.callback, e.partitions))
            self.entered = None

    # consumer protocol without a listener: no callback lines, only the background thread's lists
    def _hear_lists(self, line: LogLine) -> None:
        if line.text.startswith("Revoking previously assigned partitions"):
            self.revoking = (line.at_us, client_lines.partitions_in(line.text))
        elif line.text.startswith("Reconciling assignment with local epoch"):
            added = re.search(r"Added partitions \(assigned - owned\):([^\n]*)", line.text)
            self.adding = (line.at_us, client_lines.partitions_in(added[1])) if added is not None else None

    def _without_listener(self, e: ev.MemberStateChanged) -> None:
        if e.before != "RECONCILING" or e.after != "ACKNOWLEDGING":
            return
        for kind, told in (("revoked", self.revoking), ("assigned", self.adding)):
            if told is not None and told[1]:
                self._enter(ev.CallbackBegan(max(told[0], self.out[-1].at_us if self.out else 0), self.voice.name, kind, told[1]), "")
                self._close_callback(e.at_us)
        self.revoking = self.adding = None


def _spoken(voice: _Voice) -> list[TraceEvent]:
    return _Speech(voice).tell()


def _namer(names: dict[str, str], by_instance: dict[str, str]) -> broker_lines.Names:
    def name(member_id: str) -> str:
        if member_id in names:
            return names[member_id]
        stem = broker_lines.named_by_id(member_id)
        return by_instance.get(stem, stem)
    return name


def _broker_events(logs: Sequence[_Log], groups: dict[str, None], name: broker_lines.Names) -> list[TraceEvent]:
    """What the coordinator's lines tell of these groups (of all, where no client speaks); why an epoch grew is told by the line before."""
    found: list[TraceEvent] = []
    triggers: dict[str, tuple[str, str, int]] = {}
    states: dict[str, str] = {}
    for line in sorted((x for log in logs for x in log.lines if x.is_broker), key=lambda x: x.at_us):
        for e in broker_lines.events_of(line, name):
            if groups and e.group not in groups:
                continue
            kind = type(e)
            if kind is ev.MemberAdded and e.how in ("new", "static"):
                triggers[e.group] = ("joined", e.consumer, e.at_us)
            elif kind is ev.MemberRemoved:
                why = "session-expired" if e.why == "session-expired" else "poll-expired" if "poll timeout has expired" in line.text else "left"
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


def _silences(voices: Sequence[_Voice], events: Sequence[TraceEvent], broker: Sequence[TraceEvent]) -> list[TraceEvent]:
    """Who was removed because its session ran out had fallen silent a session before: dead, or frozen if it spoke again in the same life."""
    found: list[TraceEvent] = []
    lines = {v.name: [line.at_us for line in v.lines] for v in voices}
    session = {v.name: int(v.config.get("session.timeout.ms", SESSION_US // MS)) * MS if v.config.get("session.timeout.ms", "0").isdigit() else SESSION_US
               for v in voices}
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
        last = max((x for x in ends.get(e.consumer, ()) if x.at_us <= e.at_us), key=lambda x: x.at_us, default=None)
        if type(last) is ev.ConsumerExited:
            continue
        after = next((at for at in lines[e.consumer] if at > e.at_us), None)
        reborn = after is not None and any(type(x) is ev.ConsumerExited and x.at_us >= e.at_us for x in ends.get(e.consumer, ())) and any(
            type(x) is ev.ConsumerStarted and x.at_us == after for x in ends.get(e.consumer, ()))
        if after is None or reborn:
            found.append(ev.ConsumerExited(silent, e.consumer, getattr(last, "life", 1), "killed"))
        else:
            found += [ev.ConsumerFroze(silent, e.consumer), ev.ConsumerThawed(after, e.consumer)]
    return found


# ---------------------------------------------------------------------------------------------------- the header


def _header(logs: Sequence[_Log], voices: Sequence[_Voice], events: Sequence[TraceEvent], known: dict[str, None]) -> TraceHeader:
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
    facts = {v.name: _facts(v, assignor.get(v.name, ""), v.name in is_new) for v in sorted(voices, key=lambda v: v.name)}
    protocols = dict.fromkeys(f.protocol for f in facts.values() if f.protocol)
    return TraceHeader(
        source="logs", title=", ".join(dict.fromkeys(v.group for v in voices)), variant="logs", heading=" and ".join(protocols),
        kafka=next((log.kafka for log in logs if log.kafka), ""), horizon_us=events[-1].at_us + 1,
        topics={name: TopicFacts(topics[name]) for name in sorted(topics)}, consumers=facts,
    )


def _facts(v: _Voice, assignor: str, is_new: bool) -> ConsumerFacts:
    def us(key: str) -> int:
        value = v.config.get(key, "")
        return int(value) * MS if value.isdigit() and len(value) < 13 else -1
    offered = v.config.get("partition.assignment.strategy", "")
    assignors: Any = assignor_names(re.sub(r"class |[\[\] ]", "", offered)) if offered and not is_new else (assignor,) if assignor else ()
    protocol = "consumer" if is_new else protocol_of(assignors) if assignors else ""
    commit = {"true": True, "false": False}.get(v.config.get("enable.auto.commit", ""))
    return ConsumerFacts(
        group=v.group, client="java", protocol=protocol, assignors=assignors, instance_id=v.instance, session_timeout_us=us("session.timeout.ms"),
        heartbeat_interval_us=us("heartbeat.interval.ms"), max_poll_interval_us=us("max.poll.interval.ms"), is_auto_commit=commit,
    )
