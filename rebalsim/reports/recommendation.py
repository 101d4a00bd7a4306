"""A recommendation in sentences: what is changed, what it brings, and what it costs elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rebalsim.domain.answer import Answer, BudgetSaid, PointSaid
from rebalsim.domain.client import ClientConfig
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.verdict import Outcome
from rebalsim.reports.outcomes_told import OUTCOMES
from rebalsim.reports.sweep_words import say_metric
from rebalsim.words.lists import plural
from rebalsim.words.times import say_duration


def _nothing_found(answer: Answer, near: PointSaid | None) -> Iterator[str]:
    yield "Nothing among the usual values meets all budgets."
    if near is not None:
        at = ", ".join(f"{k} {v}" for k, v in near.at.items())
        yield (
            f"The nearest: {at}, {near.variant}: {_worst(answer, near)}; it breaks "
            f"{', '.join(near.broken)}"
        )
    yield (
        "What could help beyond these settings: fewer restarts, static members, or another "
        "protocol (see `rebalsim lint`)."
    )


def render_recommendation(
    answer: Answer,
    now: PointSaid | None,
    broken: Sequence[BudgetSaid],
    found: Sequence[Any],
    near: PointSaid | None,
    scenario: Scenario,
    expelled: Sequence[Any],
) -> Iterator[str]:
    """Lines for a terminal. `found`: choices with `turns` and `point`, the smallest change
    first.
    """
    yield answer.title
    yield ""
    if now is not None:
        yield f"As it is ({now.variant}): {_worst(answer, now)}"
        yield from (
            f"  {OUTCOMES[Outcome(b.verdict)].sign} {b.budget}: {say_metric(b.metric, b.observed)}"
            for b in broken
            if b.verdict in (Outcome.FAIL, Outcome.INCONCLUSIVE)
        )
    if not found:
        yield from _nothing_found(answer, near)
        return
    best = found[0]
    if not best.turns:
        yield "Nothing need be changed: all budgets are met as it is."
        return
    touched = plural(len(best.turns), "setting")
    yield f"The smallest change that meets all budgets touches {touched}:"
    yield from _turns(best)
    yield f"  then {_worst(answer, best.point)}"
    for other in found[1:4]:
        turns = ", ".join(f"{t.name} {t.before} → {t.after}" for t in other.turns)
        yield f"or: {turns}; then {_worst(answer, other.point)}"
    yield ""
    yield "What it costs elsewhere"
    yield from (f"  {line}" for line in _trades(best.turns, scenario, expelled))


def _turns(choice: Any) -> Iterator[str]:
    names = max(len(t.name) for t in choice.turns)
    for turn in choice.turns:
        yield f"  ~ {turn.name.ljust(names)}  {turn.before} → {turn.after}"


def _worst(answer: Answer, point: PointSaid) -> str:
    if point.verdict == "error":
        return point.error
    names = list(dict.fromkeys([answer.main_metric, "rebalances"]))
    return ", ".join(
        f"{name} {say_metric(name, point.metrics[name][2])}"
        for name in names
        if name in point.metrics
    )


def _trades(turns: Sequence[Any], scenario: Scenario, expelled: Sequence[Any]) -> Iterator[str]:
    """What each changed setting gives up for what it gains, a sentence each."""
    config = next((c.config for g in scenario.groups for c in g.consumers), ClientConfig())
    members = sum(len(g.consumers) for g in scenario.groups)
    after = {t.name: t.after for t in turns}
    told = [
        *_of_sessions(after, config, expelled),
        *_of_heartbeats(after, config, members),
        *(
            said
            for name in after
            if name.startswith("group.consumer.")
            for said in _of_brokers(name, after[name], scenario, members)
        ),
        *_of_polls(after, config),
    ]
    if "members" in after:
        told.append(
            f"{after['members']} members instead of {members}: that many more (or fewer) "
            "processes to pay for and to restart"
        )
    told += [
        f"another protocol ({turn.before} → {turn.after}) is a migration: `rebalsim "
        "lint` and the migration stories say in which steps"
        for turn in turns
        if turn.name == "variant"
    ]
    yield from told or ["nothing that rebalsim knows of"]


def _of_sessions(
    after: Mapping[str, str], config: ClientConfig, expelled: Sequence[Any]
) -> Iterator[str]:
    if "session.timeout.ms" not in after:
        return
    was, now = config.session_timeout_us, _us(after["session.timeout.ms"])
    beat = _us(after.get("heartbeat.interval.ms", "")) or config.heartbeat_interval_us
    verb = "expels" if now < was else "keeps"
    before = max(0, was - config.heartbeat_interval_us)
    yield (
        f"a session of {after['session.timeout.ms']} {verb} a healthy member whose GC pause or "
        f"network cut lasts {say_duration(max(0, now - beat))} to {say_duration(now)} (before: "
        f"{say_duration(before)} to {say_duration(was)})"
    )
    for one in expelled:
        yield (
            f"with {'GC pauses' if one.kind == 'freeze' else 'network cuts'} of {one.for_} about "
            f"every {one.every} per member: {one.after:.1f} healthy members expelled a day "
            f"(before: {one.before:.1f})"
        )
    if not expelled:
        yield (
            "how often that is depends on your pauses: tell them with --gc-pauses 10m:1s..8s "
            "or --cuts, and they are played for a day"
        )


def _of_heartbeats(after: Mapping[str, str], config: ClientConfig, members: int) -> Iterator[str]:
    if "heartbeat.interval.ms" in after:
        was, now = config.heartbeat_interval_us, _us(after["heartbeat.interval.ms"])
        yield (
            f"heartbeats at the coordinator: {members * 1e6 / now:.1f} a second instead of "
            f"{members * 1e6 / was:.1f}"
        )


def _of_polls(after: Mapping[str, str], config: ClientConfig) -> Iterator[str]:
    if "max.poll.interval.ms" in after:
        records = int(after.get("max.poll.records", config.max_poll_records))
        yield (
            f"a batch of {records} records must be handled within {after['max.poll.interval.ms']}, "
            "or its member leaves the group and the batch is handled twice"
        )
    if "max.poll.records" in after:
        yield (
            f"batches of {after['max.poll.records']} instead of {config.max_poll_records} "
            "records, so more or fewer calls of poll() for the same work"
        )


def _of_brokers(name: str, value: str, scenario: Scenario, members: int) -> Iterator[str]:
    """What the consumer protocol's settings give up: they are the brokers', and so every
    group's.
    """
    field = name.replace(".", "_").removesuffix("_ms") + "_us"
    was, now = getattr(scenario.cluster.config, field), _us(value)
    least = getattr(
        scenario.cluster.config, field.replace("group_consumer_", "group_consumer_min_"), 0
    )
    first = (
        f"; {name.replace('group.consumer.', 'group.consumer.min.')} has to be lowered on all of "
        "them first"
        if now < least
        else ""
    )
    yield f"{name} is the brokers', for every group or, by kafka-configs, for this one{first}"
    if name.endswith("heartbeat.interval.ms"):
        yield (
            f"heartbeats at the coordinator: {members * 1e6 / now:.1f} a second instead of "
            f"{members * 1e6 / was:.1f}"
        )
    elif name.endswith("session.timeout.ms"):
        verb = "expels" if now < was else "keeps"
        yield (
            f"a session of {value} {verb} a healthy member whose GC pause or network cut lasts "
            f"{say_duration(min(now, was))} to {say_duration(max(now, was))}"
        )
    else:
        yield (
            "a target is worked out more often, which costs the coordinator's processor in large "
            "groups"
            if now < was
            else "what changes within that time is worked out together, and later"
        )


def _us(text: str) -> int:
    """A duration as a ladder writes it."""
    import re

    units = {
        "d": 86_400_000_000,
        "h": 3_600_000_000,
        "m": 60_000_000,
        "s": 1_000_000,
        "ms": 1_000,
        "us": 1,
    }
    return round(
        sum(float(n) * units[u] for n, u in re.findall(r"([\d.]+) ?(ms|us|d|h|m|s)", text))
    )
