"""The group's states over time, by Kafka's names, and the share of time spent in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Rebalance, StateSpan
from rebalsim.domain.kafka_states import KafkaGroupState, KafkaStreamsState
from rebalsim.trace import events as ev
from rebalsim.trace.streams_events import ApplicationStateChanged
from rebalsim.trace.trace import ConsumerFacts


def find_states(group: str, index: Index, rounds: Sequence[Rebalance]) -> list[StateSpan]:
    """Spans without holes from the start to the horizon: told by the coordinator, else as the
    rounds imply.
    """
    told = [
        n for n in index.by_group.get(group, ()) if type(index.events[n]) is ev.GroupStateChanged
    ]
    changes = _told(index, told) if told else _implied(rounds)
    spans: list[StateSpan] = []
    state = (index.events[told[0]].before if told else "") or KafkaGroupState.EMPTY
    at, generation, event = 0, -1, -1
    for when, after, gen, number in changes:
        if when > at:
            spans.append(StateSpan(group, state, at, when, generation, event))
        at, state, generation, event = max(at, when), after, gen, number
    if at < index.horizon_us:
        spans.append(StateSpan(group, state, at, index.horizon_us, generation, event))
    return _merged(spans)


def find_application_states(
    index: Index, consumers: Mapping[str, ConsumerFacts]
) -> dict[str, list[StateSpan]]:
    """Kafka Streams, by group: RUNNING while all instances that are up are, ERROR where one is,
    else REBALANCING; empty where there is no application.
    """
    groups = {facts.process or name: facts.group for name, facts in consumers.items()}
    changes: dict[str, list[tuple[int, ApplicationStateChanged]]] = {}
    for number, e in enumerate(index.events):
        if type(e) is ApplicationStateChanged:
            changes.setdefault(groups.get(e.instance, ""), []).append((number, e))
    return {group: _of_application(group, of, index) for group, of in changes.items()}


def _of_application(
    group: str, changes: Sequence[tuple[int, ApplicationStateChanged]], index: Index
) -> list[StateSpan]:
    spans: list[StateSpan] = []
    states: dict[str, str] = {}
    at, state = 0, ""
    for number, e in changes:
        states[e.instance] = e.after
        worst = (KafkaStreamsState.ERROR, KafkaStreamsState.REBALANCING)
        now = next((each for each in worst if each in states.values()), KafkaStreamsState.RUNNING)
        if now != state:
            if state and e.at_us > at:
                spans.append(StateSpan(group, state, at, e.at_us, event=number))
            at, state = e.at_us, now
    if state and at < index.horizon_us:
        spans.append(StateSpan(group, state, at, index.horizon_us))
    return spans


def state_shares(spans: Sequence[StateSpan]) -> dict[str, float]:
    """Share of the observed time in each state, states by name."""
    spent: dict[str, int] = {}
    for span in spans:
        spent[span.state] = spent.get(span.state, 0) + span.ended_us - span.started_us
    total = sum(spent.values())
    return {state: spent[state] / total for state in sorted(spent)} if total else {}


def _told(index: Index, numbers: Sequence[int]) -> list[tuple[int, str, int, int]]:
    events = index.events
    return [(events[n].at_us, events[n].after, events[n].generation, n) for n in numbers]


def _implied(rounds: Sequence[Rebalance]) -> list[tuple[int, str, int, int]]:
    changes = []
    for r in rounds:
        preparing, completing = (
            (KafkaGroupState.ASSIGNING, KafkaGroupState.RECONCILING)
            if r.is_of_epochs
            else (KafkaGroupState.PREPARING_REBALANCE, KafkaGroupState.COMPLETING_REBALANCE)
        )
        event = r.evidence[0] if r.evidence else -1
        changes.append((r.prepared_us, preparing, r.generation, event))
        if r.barrier_us >= 0:
            changes.append((r.barrier_us, completing, r.generation, event))
        if r.stable_us >= 0:
            changes.append(
                (
                    r.stable_us,
                    KafkaGroupState.STABLE,
                    r.generation,
                    r.evidence[-1] if r.evidence else -1,
                )
            )
    return sorted(changes, key=lambda c: c[0])


def _merged(spans: list[StateSpan]) -> list[StateSpan]:
    merged: list[StateSpan] = []
    for span in spans:
        if merged and merged[-1].state == span.state and merged[-1].ended_us == span.started_us:
            merged[-1].ended_us = span.ended_us
        else:
            merged.append(span)
    return merged
