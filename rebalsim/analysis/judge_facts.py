"""Expectations as facts: `orders-3 owned by c2` at a moment, `no rebalance` between two, `c1 is
fenced` ever.

A state (owned by, unowned, stable, empty, gone) must hold at its moment, throughout its window
or from its moment on; with `before` at some moment before it; without a time at the end. An
event (fenced, removed) must happen, or never happen, within its window, or ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from rebalsim.analysis.judge_selection import in_this_run
from rebalsim.domain.budget import Expectation
from rebalsim.domain.doing import Doing
from rebalsim.domain.ids import partition_named
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.membership import Removal
from rebalsim.domain.verdict import Measured
from rebalsim.trace import events as ev
from rebalsim.words.times import say_duration

if TYPE_CHECKING:
    from rebalsim.analysis.analysis import Analysis

# from, until, what was the case; without holes where the fact is a state
Spans = list[tuple[int, int, str]]
STATES = ("owned-by", "unowned", "stable", "empty", "gone")


def holds(a: Analysis, fact: Expectation) -> Measured:
    """Whether the fact holds, as 1 or 0; where it does not, what was the case."""
    for at in (fact.from_us, fact.until_us):
        if at is not None and at > a.horizon_us:
            return Measured(
                None,
                problem=f"{say_duration(at)} is after the end: the story stops at "
                f"{say_duration(a.horizon_us)} — "
                "move the moment, or lengthen horizon:",
            )
    fact = (
        replace(fact, from_us=in_this_run(a, fact.from_us), until_us=in_this_run(a, fact.until_us))
        if a.header.shift_us
        else fact
    )
    why = _state(a, fact) if fact.fact in STATES else _HAPPENINGS[fact.fact](a, fact)
    return Measured(float(not why), said=why)


# ------------------------------------------------------------------------------------------- states


def _state(a: Analysis, fact: Expectation) -> str:
    spans, wanted = _SPANS[fact.fact](a, fact)
    last = a.horizon_us - 1
    if fact.from_us is None and fact.until_us is not None:  # before: at some moment
        if any(what == wanted and start < fact.until_us for start, _, what in spans):
            return ""
        return (
            f"never before {say_duration(fact.until_us)}; at its end "
            f"{_told(spans, fact.until_us - 1)}"
        )
    start = min(last if fact.from_us is None else fact.from_us, last)
    end = (
        start + 1
        if fact.until_us == fact.from_us
        else a.horizon_us
        if fact.until_us is None
        else fact.until_us
    )
    for begun, ended, what in spans:
        if begun < end and ended > start and what != wanted:
            return (
                f"at {say_duration(max(begun, start))} "
                f"{_called(what)}{_since(begun, ended, a.horizon_us)}"
            )
    return ""


def _since(begun: int, ended: int, horizon: int) -> str:
    since = f", since {say_duration(begun)}" if begun else ", from the start"
    return f"{since} until {say_duration(ended)}" if ended < horizon else since


def _told(spans: Spans, at: int) -> str:
    return next(
        (_called(what) for start, end, what in spans if start <= at < end), "nothing was known"
    )


def _called(what: str) -> str:
    return {"": "nobody owned it"}.get(what, what)


def _filled(held: Sequence[tuple[int, int, str]], horizon: int, between: str) -> Spans:
    """The spans with what is between them, from 0 to the horizon."""
    spans: Spans = []
    at = 0
    for start, end, what in sorted(held):
        if start > at:
            spans.append((at, start, between))
        if end > max(at, start):
            spans.append((max(at, start), end, what))
        at = max(at, end)
    if at < horizon:
        spans.append((at, horizon, between))
    return spans


def _owners(a: Analysis, fact: Expectation) -> tuple[Spans, str]:
    partition = partition_named(fact.subject)
    group = a.index.group_of.get(fact.object) if fact.object else None
    held = [
        (h.started_us, h.ended_us, h.consumer)
        for (g, p), found in a.holdings.items()
        if p == partition and (group is None or g == group)
        for h in found
    ]
    spans = [
        (start, end, f"{what} owned it" if what else what)
        for start, end, what in _filled(held, a.horizon_us, "")
    ]
    return spans, f"{fact.object} owned it" if fact.object else ""


def _group_states(state: str) -> Callable[[Analysis, Expectation], tuple[Spans, str]]:
    def told(a: Analysis, fact: Expectation) -> tuple[Spans, str]:
        wanted = f"the group was {state}"
        group = _group(a, fact.subject)
        return [
            (s.started_us, s.ended_us, f"the group was {s.state}")
            for s in a.group_states.get(group, ())
        ], wanted

    return told


def _group(a: Analysis, name: str) -> str:
    """The group of that name; `group` is the only one, or the first."""
    return name if name in a.groups else a.groups[0] if a.groups else name


def _presence(a: Analysis, fact: Expectation) -> tuple[Spans, str]:
    life = next((m for m in a.members if m.consumer == fact.subject), None)
    away, there = f"{fact.subject} was gone", f"{fact.subject} was there"
    spans = (
        [(s.started_us, s.ended_us, away if s.what is Doing.AWAY else there) for s in life.spans]
        if life is not None
        else []
    )
    return _filled(spans, a.horizon_us, away), away


_SPANS: dict[str, Callable[[Analysis, Expectation], tuple[Spans, str]]] = {
    "owned-by": _owners,
    "unowned": _owners,
    "stable": _group_states(KafkaGroupState.STABLE),
    "empty": _group_states(KafkaGroupState.EMPTY),
    "gone": _presence,
}


# --------------------------------------------------------------------------------------- happenings


def _window(a: Analysis, fact: Expectation) -> tuple[int, int]:
    return fact.from_us or 0, a.horizon_us if fact.until_us is None else fact.until_us + (
        fact.until_us == fact.from_us
    )


def _no_rebalance(a: Analysis, fact: Expectation) -> str:
    """Rounds that overlap the window, those under way included. A group's first settling is
    none.
    """
    start, end = _window(a, fact)
    groups = [_group(a, fact.subject)] if fact.subject else list(a.groups)
    for group in groups:
        rounds = a.rounds_by_group[group]
        for r, after in zip_longest(rounds, rounds[1:]):
            until = max(r.stable_us, r.settled_us)
            if r.stable_us < 0:  # one that was overtaken is over where the next began
                until = a.horizon_us if after is None else after.prepared_us
            if (
                not r.is_formation
                and r.prepared_us < end
                and until > start
                and (r.is_complete or r.barrier_us >= 0 or r.stable_us < 0)
            ):
                why = ", ".join(filter(None, (r.trigger.replace("-", " "), r.trigger_consumer)))
                return (
                    f"{group} rebalanced at {say_duration(r.prepared_us)}"
                    f"{f' ({why})' if r.trigger else ''}, {r.counter} {r.generation}"
                )
    return ""


def _events_of(a: Analysis, fact: Expectation) -> list[tuple[int, str]]:
    start, end = _window(a, fact)
    found = []
    for n in a.index.by_consumer.get(fact.subject, ()):
        e = a.index.events[n]
        if not start <= e.at_us < end:
            continue
        if type(e) is ev.Fenced and fact.fact.endswith("fenced"):
            found.append((e.at_us, f"was refused with {e.error} on {e.api}"))
        elif (
            type(e) is ev.MemberRemoved
            and fact.fact.endswith("removed")
            and e.why not in (Removal.LEFT, Removal.REPLACED)
        ):
            found.append((e.at_us, f"was removed ({e.why})"))
    return found


def _happens(a: Analysis, fact: Expectation) -> str:
    start, end = _window(a, fact)
    within = (
        ""
        if (start, end) == (0, a.horizon_us)
        else f" from {say_duration(start) if start else 'the start'} to {say_duration(end)}"
    )
    return "" if _events_of(a, fact) else f"{fact.subject} never was{within}"


def _never(a: Analysis, fact: Expectation) -> str:
    found = _events_of(a, fact)
    return f"{fact.subject} {found[0][1]} at {say_duration(found[0][0])}" if found else ""


_HAPPENINGS: dict[str, Callable[[Analysis, Expectation], str]] = {
    "no-rebalance": _no_rebalance,
    "fenced": _happens,
    "removed": _happens,
    "not-fenced": _never,
    "not-removed": _never,
}
