"""A group's story as a trace, the same kind that a simulation or a recording gives: so that timeline,
page, describe, explain, compare and budgets work on it.

Deliveries leave no line in any log: a pause ends when a listener has been given its partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.recording import assignor_names, protocol_of
from rebalsim.trace.trace import ConsumerFacts, TopicFacts, Trace, TraceHeader
from rebalsim.worlds.logs.coordinator_events import coordinator_events
from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.facts import CALLS, OF_EPOCHS, FactKind
from rebalsim.worlds.logs.observation import GroupStory, observe
from rebalsim.worlds.logs.sources import Source
from rebalsim.worlds.logs.unheard_events import name_of, unheard_events
from rebalsim.worlds.logs.voice_events import partition_of, voice_events
from rebalsim.worlds.logs.voices import Voice

MS = 1_000


def read_logs(sources: Sequence[Source], group: str = "") -> Trace:
    """The trace that these logs tell together; of one group where `group` names it."""
    observed = observe(sources, group)
    if not observed.groups:
        where = ", ".join(s.name for s in sources[:3])
        raise InputError(
            f"{where}: no line is a Kafka consumer's or a group coordinator's — give their logs "
            "at level INFO; `rebalsim observe --what-to-log` prints the settings"
        )
    return trace_of(list(observed.groups.values()))


def trace_of(stories: Sequence[GroupStory]) -> Trace:
    """These groups' events in order, counted from the first of them."""
    events: list[TraceEvent] = []
    for story in stories:
        for voice in story.voices:
            stops = [s for s in story.stops if s.voice is voice]
            events += voice_events(voice, stops)
        events += coordinator_events(story)
        events += unheard_events(story)
    if not events:
        names = ", ".join(s.name for s in stories)
        raise InputError(f"{names}: the logs tell its name and nothing that happened to it")
    events.sort(key=lambda e: e.at_us)
    start = events[0].at_us
    for e in events:
        _shift(e, start)
    return Trace(_header(stories, events, start), events)


def _shift(e: TraceEvent, start: int) -> None:
    e.at_us -= start
    for name in ("last_poll_us", "last_heard_us"):
        if getattr(e, name, -1) >= 0:
            setattr(e, name, max(0, getattr(e, name) - start))


def _header(stories: Sequence[GroupStory], events: Sequence[TraceEvent], start: int) -> TraceHeader:
    topics: dict[str, int] = {}
    voices = [v for s in stories for v in s.voices]
    for voice in voices:
        for f in voice.facts:
            for name in f.partitions if f.what in CALLS else ():
                p = partition_of(name)
                topics[p.topic] = max(topics.get(p.topic, 0), p.number + 1)
    facts = {v.name: facts_of(v) for v in sorted(voices, key=lambda v: v.name)}
    for story in stories:
        if any(p.to is None and p.end_us >= 0 for p in story.pauses):
            name = name_of(story)
            facts[name] = ConsumerFacts(group=story.name, process=name)
    protocols = dict.fromkeys(f.protocol for f in facts.values() if f.protocol)
    last = max([events[-1].at_us, *(v.facts[-1].at_us - start for v in voices if v.facts)])
    return TraceHeader(
        source="logs",
        title=", ".join(s.name for s in stories),
        variant="logs",
        heading=" and ".join(protocols),
        kafka=next((f.why for v in voices for f in v.facts if f.what == FactKind.VERSION), ""),
        horizon_us=last + 1,
        topics={name: TopicFacts(topics[name]) for name in sorted(topics)},
        consumers=facts,
    )


def facts_of(v: Voice) -> ConsumerFacts:
    """What a consumer's log tells of its settings."""
    is_new = any(f.what in OF_EPOCHS for f in v.facts)
    offered = v.settings.get("partition.assignment.strategy", "").strip("[]")
    chosen = next((f.why for f in v.facts if f.what == FactKind.JOINED and f.why), "")
    assignors: Any = ()
    if not is_new:
        names = ", ".join(word.removeprefix("class ").strip() for word in offered.split(","))
        assignors = assignor_names(names) if offered else (chosen,) if chosen else ()
    protocol = "consumer" if is_new else ""
    if not protocol and (chosen or assignors):
        protocol = protocol_of((chosen,)) if chosen else protocol_of(assignors)
    return ConsumerFacts(
        group=v.group,
        process=v.name.partition("/")[0],
        client=dialect(v.dialect).client,
        protocol=protocol,
        assignors=assignors,
        instance_id=v.instance or None,
        session_timeout_us=-1 if is_new else _us(v, "session.timeout.ms"),
        heartbeat_interval_us=-1 if is_new else _us(v, "heartbeat.interval.ms"),
        max_poll_interval_us=_us(v, "max.poll.interval.ms"),
        is_auto_commit={"true": True, "false": False}.get(v.settings.get("enable.auto.commit", "")),
        auto_commit_us=_us(v, "auto.commit.interval.ms"),
    )


def _us(v: Voice, key: str) -> int:
    value = v.settled(key)
    return value * MS if value >= 0 else -1
