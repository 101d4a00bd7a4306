"""A tiny language for traces: `c1+p0@0 c1-p0@5 c2+p0@9` is a partition handed from c1 to c2,
standing still for four seconds.

A word is WHO WHAT @ SECONDS; partitions p0,p1 are of the topic `t`. What happens to a consumer:

    c1+p0    assigned, and at once handed records       c1-p0   revoked, in no time
    c1<p0    assigned callback entered …                c1>     … and left           c1*p0   records
    handed over
    c1[p0    revoked callback entered …                 c1]     … and left           c1/p0   lost,
    in no time
    c1!      killed      c1~ froze     c1^ thawed       c1#     handler stuck        c1.     handler
    returned
    c1(      told to start, polls      c1x  close()     c1l     LeaveGroup sent      c1)     exited
    c1?      noticed the rebalance (c1?sync: by an answer)     c1w  its commit leaves       c1j  its
    JoinGroup leaves
    c1=2     joined generation 2       c1:2 its assignment came     c1e  max.poll.interval.ms ran
    out

And to the group: `g{joined.c2` prepares (trigger, who), `g|2.c1` the barrier of generation 2 is
complete (last: c1), `g}2` stable,
`g%c1` removed as its session ran out (`g%c1.9`: last heard of at 9 s), `g&c1` replaced by one with
its static id. `t+3` the topic now has three partitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rebalsim.domain.ids import Partition
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.trace import ConsumerFacts, TopicFacts, Trace, TraceHeader

SECOND = 1_000_000
_WORD = re.compile(r"(?P<who>c\d+|g|t)(?P<what>\D)(?P<rest>[^@]*)@(?P<at>\d+(?:\.\d+)?)$")


def seconds(us: int) -> float:
    """µs as tests read them."""
    return us / SECOND


def partitions(text: str) -> tuple[Partition, ...]:
    """`p0,p1` of the topic `t`."""
    return tuple(Partition("t", int(word.lstrip("p"))) for word in text.split(",") if word)


def trace(
    text: str,
    until: float = 100.0,
    protocol: str = "eager",
    session: float = 45.0,
    statics: tuple[str, ...] = (),
    auto_commit: bool = True,
    rate: float | None = 10.0,
    source: str = "recorded",
) -> Trace:
    """The trace that these words tell."""
    events: list[TraceEvent] = []
    entered: dict[str, tuple[str, tuple[Partition, ...]]] = {}
    known: dict[str, None] = {}
    highest = 0
    for word in text.split():
        found = _WORD.match(word)
        assert found is not None, f"{word} is no word of the language"
        who, what, rest, at = (
            found["who"],
            found["what"],
            found["rest"],
            round(float(found["at"]) * SECOND),
        )
        if who == "g":
            events += _GROUP[what](at, rest)
        elif who == "t":
            events.append(ev.TopicChanged(at, "t", int(rest)))
        else:
            known[who] = None
            events += _consumer(at, who, what, rest, entered)
            if what in "+-<[/*" and not any(type(e) is ev.TopicChanged for e in events):
                highest = max([highest, *(p.number + 1 for p in partitions(rest))])
    assert [e.at_us for e in events] == sorted(e.at_us for e in events), (
        "the words run forward in time"
    )
    facts = {
        name: ConsumerFacts(
            "group",
            protocol=protocol,
            session_timeout_us=round(session * SECOND),
            heartbeat_interval_us=3 * SECOND,
            poll_timeout_us=100_000,
            max_poll_interval_us=300 * SECOND,
            instance_id=f"i-{name}" if name in statics else None,
            is_auto_commit=auto_commit,
        )
        for name in known
    }
    topics = {
        "t": TopicFacts(highest, None if rate is None else ((0, rate * max(highest, 1), False),))
    }
    return Trace(
        TraceHeader(
            source=source, horizon_us=round(until * SECOND), topics=topics, consumers=facts
        ),
        events,
    )


def _consumer(
    at: int, who: str, what: str, rest: str, entered: dict[str, tuple[str, tuple[Partition, ...]]]
) -> list[TraceEvent]:
    ps = partitions(rest) if what in "+-<[/*" else ()
    if what in "<[":
        entered[who] = ("assigned" if what == "<" else "revoked", ps)
        return [ev.CallbackBegan(at, who, entered[who][0], ps)]
    if what in ">]":
        callback, ps = entered.pop(who)
        return [ev.CallbackEnded(at, who, callback, ps)]
    return _CONSUMER[what](at, who, rest, ps)


def _whole(at: int, who: str, callback: str, ps: tuple[Partition, ...]) -> list[TraceEvent]:
    return [ev.CallbackBegan(at, who, callback, ps), ev.CallbackEnded(at, who, callback, ps)]


def _records(at: int, who: str, ps: tuple[Partition, ...]) -> TraceEvent:
    return ev.RecordsDelivered(at, who, dict.fromkeys(ps, (0, 0, -1)))


_CONSUMER: dict[str, Callable[[int, str, str, tuple[Partition, ...]], list[TraceEvent]]] = {
    "+": lambda at, who, rest, ps: [*_whole(at, who, "assigned", ps), _records(at, who, ps)],
    "-": lambda at, who, rest, ps: _whole(at, who, "revoked", ps),
    "/": lambda at, who, rest, ps: _whole(at, who, "lost", ps),
    "*": lambda at, who, rest, ps: [_records(at, who, ps)],
    "!": lambda at, who, rest, ps: [ev.ConsumerExited(at, who, 1, "killed")],
    ")": lambda at, who, rest, ps: [ev.ConsumerExited(at, who, 1, "closed")],
    "(": lambda at, who, rest, ps: [
        ev.ConsumerStarted(at, who, int(rest or 1)),
        ev.PollingBegan(at, who, int(rest or 1)),
    ],
    "~": lambda at, who, rest, ps: [ev.ConsumerFroze(at, who)],
    "^": lambda at, who, rest, ps: [ev.ConsumerThawed(at, who)],
    "#": lambda at, who, rest, ps: [ev.HandlerStuck(at, who, "hang")],
    ".": lambda at, who, rest, ps: [ev.HandlerReturned(at, who)],
    "x": lambda at, who, rest, ps: [ev.CloseBegan(at, who)],
    "l": lambda at, who, rest, ps: [ev.LeaveSent(at, who, "the consumer is being closed")],
    "e": lambda at, who, rest, ps: [
        ev.PollExpired(at, who),
        ev.LeaveSent(at, who, "consumer poll timeout has expired."),
    ],
    "?": lambda at, who, rest, ps: [
        ev.RebalanceNoticed(at, who, rest or "heartbeat"),
        ev.RejoinRequested(at, who, "group is already rebalancing"),
    ],
    "w": lambda at, who, rest, ps: [ev.RequestSent(at, who, "OffsetCommit", 0)],
    "j": lambda at, who, rest, ps: [ev.RequestSent(at, who, "JoinGroup", 0)],
    "h": lambda at, who, rest, ps: [ev.RequestSent(at, who, "Heartbeat", 0)],
    "=": lambda at, who, rest, ps: [ev.GenerationJoined(at, who, int(rest), f"{who}-id", "range")],
    ":": lambda at, who, rest, ps: [ev.AssignmentReceived(at, who, int(rest), ())],
}


def _parts(rest: str) -> tuple[str, str]:
    one, _, other = rest.partition(".")
    return one, other


_GROUP: dict[str, Callable[[int, str], list[TraceEvent]]] = {
    "{": lambda at, rest: [
        ev.GroupStateChanged(at, "group", "Stable", "PreparingRebalance", 0, *_parts(rest))
    ],
    "|": lambda at, rest: [
        ev.BarrierCompleted(at, "group", int(_parts(rest)[0]), 2, "all-joined", _parts(rest)[1]),
        ev.GroupStateChanged(
            at, "group", "PreparingRebalance", "CompletingRebalance", int(_parts(rest)[0])
        ),
    ],
    "}": lambda at, rest: [
        ev.AssignmentStored(at, "group", int(rest)),
        ev.GroupStateChanged(at, "group", "CompletingRebalance", "Stable", int(rest)),
    ],
    "%": lambda at, rest: [
        ev.MemberRemoved(
            at,
            "group",
            _parts(rest)[0],
            f"{_parts(rest)[0]}-id",
            "session-expired",
            round(float(_parts(rest)[1] or "-0.000001") * SECOND),
        )
    ],
    "&": lambda at, rest: [ev.MemberRemoved(at, "group", rest, f"{rest}-id", "replaced")],
}
