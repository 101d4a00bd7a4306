"""A story that begins with a group that already runs: an hour (`domain/lead.py`) is played before it,
with nothing done to anybody, and the story's clock begins when that is over.

Nothing is made up: members, assignment, phases of heartbeats, committed positions and the order of
the members are what the same seed comes to in that time, which quiet time makes cheap. In the trace
all that happened before stands at 0, in its order; the records' offsets and rates go on from before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from rebalsim.assignors.connect.work import task_named
from rebalsim.connect.told_in_trace import as_partitions
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.lead import lead_of
from rebalsim.domain.scenario import RateStep, Scenario, Topic
from rebalsim.domain.script import Action, RandomFault
from rebalsim.trace import events as ev
from rebalsim.trace.connect_events import TaskStarting, TaskStopping
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.ledger import PIECE, Ledger
from rebalsim.trace.streams_events import CommitsMade, StoreRestored
from rebalsim.trace.trace import ConsumerFacts, TopicFacts, Trace

_INSTANTS: dict[type, tuple[str, ...]] = {  # beside at_us
    ev.ScriptActed: ("until_us",),
    ev.ResponseReceived: ("sent_at_us",),
    ev.PollExpired: ("last_poll_us",),
    ev.MemberRemoved: ("last_heard_us",),
    ev.InitialDelayExtended: ("until_us",),
    ev.IntervalWaited: ("until_us",),
    StoreRestored: ("began_us", "held_us"),
    CommitsMade: ("last_us",),
    TaskStopping: ("polled_us",),
}
# what a trace of the whole wire holds of an hour in which nothing happens
_ALWAYS_TOLD = (KafkaApi.JOIN, KafkaApi.SYNC)


_later_ones: list[tuple[Scenario, Scenario]] = []  # the last ones asked for: seeds share them
_REMEMBERED = 8


def with_lead(story: Scenario) -> Scenario:
    """The story with everything in it later by its lead."""
    for asked, later in _later_ones:
        if asked is story:
            return later
    later = _made_later(story)
    _later_ones.insert(0, (story, later))
    del _later_ones[_REMEMBERED:]
    return later


def _made_later(story: Scenario) -> Scenario:
    lead_us = lead_of(story)
    return replace(
        story,
        start="cold",
        horizon_us=story.horizon_us + lead_us,
        script=tuple(_later(action, lead_us) for action in story.script),
        random_faults=tuple(
            _faults_later(fault, story.horizon_us, lead_us) for fault in story.random_faults
        ),
        topics=tuple(_rates_later(topic, lead_us) for topic in story.topics),
    )


def _later(action: Action, us: int) -> Action:
    return action if action.after is not None else replace(action, at_us=action.at_us + us)


def _faults_later(fault: RandomFault, horizon_us: int, us: int) -> RandomFault:
    until = horizon_us if fault.until_us is None else fault.until_us
    return replace(fault, from_us=fault.from_us + us, until_us=until + us)


def _rates_later(topic: Topic, us: int) -> Topic:
    """Before the story records come as they do at its beginning."""
    if not topic.rate:
        return topic
    first = replace(topic.rate[0], at_us=0, is_ramp=False)
    later = tuple(replace(step, at_us=step.at_us + us) for step in topic.rate)
    return replace(topic, rate=_without_repeat(first, later))


def _without_repeat(first: RateStep, later: tuple[RateStep, ...]) -> tuple[RateStep, ...]:
    is_same = later[0].per_second == first.per_second and len(later) == 1
    return (first,) if is_same else (first, *later)


def begun(trace: Trace, story: Scenario) -> Trace:
    """The trace as the story has it: its clock begins when the lead is over."""
    header, lead_us = trace.header, lead_of(story)
    header = replace(
        header,
        horizon_us=story.horizon_us,
        lead_us=lead_us,
        topics={name: _facts_sooner(facts, lead_us) for name, facts in header.topics.items()},
        consumers={
            name: _consumer_sooner(facts, lead_us) for name, facts in header.consumers.items()
        },
    )
    sooner = _sooner(trace.events, lead_us)
    if not isinstance(trace.events, Ledger):
        return Trace(header, list(sooner), trace.work)
    packed = Ledger()
    while piece := list(islice(sooner, PIECE)):
        packed.extend(piece)
    return Trace(header, packed, trace.work)


def _sooner(events: Iterable[TraceEvent], us: int) -> Iterator[TraceEvent]:
    told: dict[tuple[str, object], None] = {}
    for event in events:
        at_us = event.at_us - us
        if at_us < 0:
            if _is_of_the_wire(event, told):
                continue
            at_us = 0
        event.at_us = at_us
        kind = type(event)
        if kind is ev.ResponseReceived and event.number < 0:
            continue  # to a request of before
        for name in _INSTANTS.get(kind, ()):
            at = getattr(event, name)
            if at >= 0:
                setattr(event, name, max(0, at - us))
        yield event


def _is_of_the_wire(event: TraceEvent, told: dict[tuple[str, object], None]) -> bool:
    """Is it told only because everything is? Of deliveries the first of a partition is news, and the
    first after its owner has looked for its position, or started the task, again.
    """
    kind = type(event)
    if kind is TaskStarting:
        for task in as_partitions((task_named(event.task),)):
            told.pop((event.consumer, task), None)
    if kind is ev.PositionFound:
        told.pop((event.consumer, event.partition), None)
    if kind is ev.RequestSent or kind is ev.ResponseReceived:
        return event.api not in _ALWAYS_TOLD
    if kind is not ev.RecordsDelivered:
        return False
    fresh = [p for p in event.batch if (event.consumer, p) not in told]
    told.update(dict.fromkeys((event.consumer, p) for p in fresh))
    return not fresh


def _facts_sooner(facts: TopicFacts, us: int) -> TopicFacts:
    rates = facts.rates and tuple([(at - us, rate, ramp) for at, rate, ramp in facts.rates])
    growth = tuple([(max(0, at - us), count) for at, count in facts.growth])
    return replace(facts, rates=rates, growth=growth)


def _consumer_sooner(facts: ConsumerFacts, us: int) -> ConsumerFacts:
    former = tuple([replace(one, until_us=max(0, one.until_us - us)) for one in facts.former])
    return replace(facts, former=former)
