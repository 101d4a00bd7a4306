"""The four questions that everybody asks when a group rebalances too often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Answer, MemberLife
from rebalsim.domain.life_end import LifeEnd
from rebalsim.trace import events as ev
from rebalsim.trace.trace import TraceHeader


def find_answers(index: Index, header: TraceHeader, members: Sequence[MemberLife]) -> list[Answer]:
    """crash-loop: does an instance crash and return faster than its session?
    outlasts-poll-interval: does one outlast max.poll.interval.ms? shared-instance-id: do two
    share an instance id? cooperative-in-use: is the cooperative assignor really in use?
    """
    return [
        _crash_loop(index, header),
        _outlasts(index, header, members),
        _shared(index, header),
        _cooperative(index, header),
    ]


def _crash_loop(index: Index, header: TraceHeader) -> Answer:
    consumers: dict[str, None] = {}
    evidence: list[int] = []
    shortest, session, times = -1, -1, 0
    has_lives = False
    for name in sorted(index.by_consumer):
        facts = header.consumers.get(name)
        limit = facts.session_timeout_us if facts is not None else -1
        gone = (-1, -1)
        for n in index.by_consumer[name]:
            e = index.events[n]
            if type(e) is ev.ConsumerExited:
                has_lives = True
                gone = (e.at_us, n) if e.how in (LifeEnd.KILLED, LifeEnd.FATAL) else (-1, -1)
            elif type(e) is ev.PollingBegan:
                has_lives = True
                away = e.at_us - gone[0]
                if gone[0] >= 0 and limit > away:
                    consumers[name] = None
                    evidence += [gone[1], n]
                    times += 1
                    if shortest < 0 or away < shortest:
                        shortest, session = away, limit
                gone = (-1, -1)
    figures = {"times": times, "away_us": shortest, "session_timeout_us": session}
    return Answer(
        "crash-loop",
        bool(consumers) if has_lives else None,
        tuple(consumers),
        figures,
        tuple(evidence),
    )


def _outlasts(index: Index, header: TraceHeader, members: Sequence[MemberLife]) -> Answer:
    consumers = [m.consumer for m in members if m.poll_expired]
    heard = [n for name in consumers for n in index.by_consumer.get(name, ())]
    evidence = [n for n in heard if type(index.events[n]) is ev.PollExpired]
    stuck = [(length, m.consumer) for m in members for length in _stuck(index, m.consumer)]
    longest, who = max(stuck, default=(-1, consumers[0] if consumers else ""))
    facts = header.consumers.get(who or next(iter(header.consumers), ""))
    limit = facts.max_poll_interval_us if facts is not None else -1
    figures = {"times": len(evidence), "longest_stuck_us": longest, "max_poll_interval_us": limit}
    if not consumers and longest > limit >= 0:
        consumers = [who]  # nobody saw it run out, and yet it did
    return Answer(
        "outlasts-poll-interval", bool(consumers), tuple(consumers), figures, tuple(evidence)
    )


def _stuck(index: Index, consumer: str) -> list[int]:
    """How long its handler was stuck, each time; what other threads of the client did meanwhile
    is no matter.
    """
    found, since = [], -1
    for n in index.by_consumer.get(consumer, ()):
        e = index.events[n]
        if type(e) is ev.HandlerStuck and since < 0:
            since = e.at_us
        elif type(e) in (ev.HandlerReturned, ev.ConsumerExited) and since >= 0:
            found.append(e.at_us - since)
            since = -1
    return [*found, index.horizon_us - since] if since >= 0 else found


def _shared(index: Index, header: TraceHeader) -> Answer:
    by_id: dict[tuple[str, str], list[str]] = {}
    for name in sorted(header.consumers):
        facts = header.consumers[name]
        if facts.instance_id is not None:
            by_id.setdefault((facts.group, facts.instance_id), []).append(name)
    consumers = {c: None for found in by_id.values() if len(found) > 1 for c in found}
    evidence = []
    fenced = 0  # a fenced member is refused more than once, until it notices
    for name in sorted(index.by_consumer):
        is_counted = False
        for n in index.by_consumer[name]:
            e = index.events[n]
            if type(e) is ev.ConsumerStarted:
                is_counted = False
            elif type(e) is ev.Fenced and e.error in (
                "FENCED_INSTANCE_ID",
                "UNRELEASED_INSTANCE_ID",
            ):
                consumers[name] = None
                evidence.append(n)
                fenced += not is_counted
                is_counted = True
    return Answer(
        "shared-instance-id", bool(consumers), tuple(consumers), {"times": fenced}, tuple(evidence)
    )


@dataclass(slots=True)
class _Choices:
    """Which assignors groups chose."""

    latest: dict[str, tuple[int, str, int]] = field(default_factory=dict)
    # group → generation → when its first member read it, and whether it is cooperative
    chosen: dict[str, dict[int, tuple[int, bool]]] = field(default_factory=dict)
    # who was refused has nothing to say in the choice
    joined: dict[str, None] = field(default_factory=dict)


def _choices(index: Index) -> _Choices:
    found = _Choices()
    for name in sorted(index.by_consumer):
        for n in index.by_consumer[name]:
            e = index.events[n]
            if type(e) is ev.GenerationJoined and e.assignor:
                found.joined[name] = None
                group = index.group_of.get(name, "")
                chosen = found.chosen.setdefault(group, {})
                at_us, _ = chosen.get(e.generation, (e.at_us, False))
                chosen[e.generation] = min(at_us, e.at_us), _is_cooperative(e.assignor)
                if e.generation >= found.latest.get(group, (-1, "", -1))[0]:
                    found.latest[group] = (e.generation, e.assignor, n)
    return found


def _cooperative(index: Index, header: TraceHeader) -> Answer:
    found = _choices(index)
    latest, chosen = found.latest, found.chosen
    is_new = any(facts.uses_consumer_protocol for facts in header.consumers.values())
    offered = tuple(
        name
        for name, facts in sorted(header.consumers.items())
        if name in found.joined and any(map(_is_cooperative, facts.assignors))
    )
    evidence = tuple(n for _, _, n in latest.values())
    moved = _moved_to_the_broker(index)
    if not latest or all(group in moved for group in latest):
        is_of_streams = all(facts.is_of_streams for facts in header.consumers.values())
        figures = {
            "consumer_protocol": int(is_new or bool(moved)),
            "since_us": min((moved[group] for group in latest), default=-1),
            **({"streams_protocol": 1} if is_of_streams and (is_new or moved) else {}),
        }
        return Answer("cooperative-in-use", None, offered, figures, evidence)
    protocols = {
        header.consumers[name].protocol for name in offered if header.consumers[name].protocol
    }
    in_use = (
        all(_is_cooperative(assignor) for _, assignor, _ in latest.values())
        and "eager" not in protocols
    )
    figures = {
        "offered": len(offered),
        "groups": len(latest),
        "since_us": _changed(next(iter(chosen.values()))) if len(chosen) == 1 else -1,
    }
    return Answer("cooperative-in-use", in_use, offered, figures, evidence)


def _is_cooperative(assignor: str) -> bool:
    """By its name; Connect's workers name their protocol instead."""
    return "cooperative" in assignor or assignor in ("sessioned", "compatible")


def _moved_to_the_broker(index: Index) -> dict[str, int]:
    """Groups that end under the consumer protocol, where the broker assigns → since when."""
    since: dict[str, int] = {}
    for group, numbers in index.by_group.items() if index.new_protocol else ():
        for n in reversed(numbers):
            e = index.events[n]
            if type(e) is ev.EpochBumped:
                since[group] = e.at_us
            elif type(e) is ev.BarrierCompleted:
                break
    return since


def _changed(chosen: dict[int, tuple[int, bool]]) -> int:
    """When the group's assignor became a cooperative one, or ceased to be; the last time, −1 if
    never.
    """
    since = -1
    last: bool | None = None
    for _, (at_us, is_cooperative) in sorted(chosen.items()):
        if last is not None and is_cooperative != last:
            since = at_us
        last = is_cooperative
    return since
