"""A recording of real consumers (one JSON document: header, then events in ms) becomes a trace like
any other.

What the wire and the callbacks told is taken over; what only a look ahead tells (which
partitions an assignment brought, where a new owner started to read) is filled in from what
followed. Nothing here says what it means.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rebalsim.domain.callback import Callback
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import Partition, partition_named
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.life_end import LifeEnd
from rebalsim.domain.membership import Arrival
from rebalsim.domain.noticed_by import NoticedBy
from rebalsim.domain.stuck_by import StuckBy
from rebalsim.outside.documents import parse_json
from rebalsim.outside.rule import said
from rebalsim.trace import events as ev
from rebalsim.trace.gzipped import text_of
from rebalsim.trace.jsonl import unfit
from rebalsim.trace.kafka_errors import error_name
from rebalsim.trace.trace import ConsumerFacts, TopicFacts, Trace, TraceHeader

MS = 1_000
_POSITION_APIS = {"ListOffsets": "earliest", "OffsetsForLeaderEpoch": "committed"}
_CALLBACKS = (Callback.REVOKED, Callback.ASSIGNED, Callback.LOST)


def read_recording(path: Path) -> Trace:
    """The trace in a recording's file, plain or gzipped."""
    return trace_of_recording(parse_json(text_of(path), str(path)), str(path))


def trace_of_recording(document: Any, name: str = "recording") -> Trace:
    """The trace that a recording's document tells."""
    try:
        trace = _Translation(document).trace()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as e:
        raise InputError(f"{name}: is not a recording as its format says ({said(e)})") from None
    if why := unfit(trace.header):
        raise InputError(f"{name}: {why}")
    return trace


def assignor_names(classes: str) -> tuple[str, ...]:
    """The registry's names of Kafka's assignor classes, in the order given."""
    known = {
        "Range": "range",
        "RoundRobin": "roundrobin",
        "Sticky": "sticky",
        "CooperativeSticky": "cooperative-sticky",
    }
    names = []
    for name in classes.split(","):
        short = name.strip().rpartition(".")[2].removesuffix("Assignor")
        names.append(known.get(short, short))
    return tuple(names)


def protocol_of(assignors: tuple[str, ...]) -> str:
    """Java's choice: cooperative only if every assignor of the list can do it."""
    return (
        "cooperative" if assignors and all("cooperative" in name for name in assignors) else "eager"
    )


class _Translation:
    """One pass over a recording's events, with what is known of each member so far."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.group: str = str(document["name"])  # the real one carries a stamp
        self.out: list[ev.TraceEvent] = []
        # member → callback it is in
        self.entered: dict[str, tuple[str, tuple[Partition, ...]]] = {}
        self.owned: dict[str, dict[Partition, None]] = {}
        # member → partition → when and how its position was found
        self.unread: dict[str, dict[Partition, tuple[int, str]]] = {}
        # member → an assignment whose partitions are still to be told
        self.synced: dict[str, ev.AssignmentReceived] = {}
        self.sent: dict[tuple[str, int, str, int], int] = {}
        self.delivered: dict[Partition, int] = {}  # one past the last offset anybody was handed
        self.killed: dict[str, int] = {}
        self.hanging: dict[str, None] = {}
        self.steps = [tuple(step) for step in document.get("steps", ())]
        self.told_steps: set[int] = set()

    def trace(self) -> Trace:
        for entry in _in_order(self.document["events"]):
            self._translate(entry)
        self.out.sort(key=lambda e: e.at_us)  # stable; only positions are told late
        return Trace(self._header(), self.out)

    # ----------------------------------------------------------------------------------- the header

    def _header(self) -> TraceHeader:
        doc = self.document
        rate = float(doc.get("rate_per_partition", 0))
        return TraceHeader(
            source="recorded",
            title=str(doc.get("name", "")),
            variant="recorded",
            heading=self._facts_of({}).protocol,
            kafka=str(doc.get("kafka", "")),
            horizon_us=int(doc["end"]) * MS,
            topics={
                str(t): TopicFacts(int(n), ((0, rate * int(n), False),))
                for t, n in sorted(doc["topics"].items())
            },
            consumers={
                name: self._facts_of(doc.get("members", {}).get(name, {})) for name in self._names()
            },
        )

    def _names(self) -> list[str]:
        return sorted({str(step[2]) for step in self.steps if step[1] == "start"})

    def _facts_of(self, own: Mapping[str, Any]) -> ConsumerFacts:
        conf: dict[str, Any] = {**self.document["conf"], **own}
        broker = self.document.get("broker", {})
        is_new = conf.get("group.protocol") == "consumer"
        assignors = (
            ()
            if is_new
            else assignor_names(
                conf.get("partition.assignment.strategy", "Range,CooperativeSticky")
            )
        )
        session = (
            broker.get("group.consumer.session.timeout.ms", 45_000)
            if is_new
            else conf.get("session.timeout.ms", 45_000)
        )
        beat = (
            broker.get("group.consumer.heartbeat.interval.ms", 5_000)
            if is_new
            else conf.get("heartbeat.interval.ms", 3_000)
        )
        return ConsumerFacts(
            group=self.group,
            client="java",
            protocol="consumer" if is_new else protocol_of(assignors),
            assignors=assignors,
            instance_id=conf.get("group.instance.id"),
            session_timeout_us=int(session) * MS,
            heartbeat_interval_us=int(beat) * MS,
            max_poll_interval_us=int(conf.get("max.poll.interval.ms", 300_000)) * MS,
            poll_timeout_us=int(conf.get("x.poll_ms", 100)) * MS,
            per_record_us=float(conf.get("x.record_us", 0)),
            is_auto_commit=str(conf.get("enable.auto.commit", "true")).lower() != "false",
            auto_commit_us=int(conf.get("auto.commit.interval.ms", 5_000)) * MS,
        )

    # ----------------------------------------------------------------------------------- the events

    def _translate(self, e: Mapping[str, Any]) -> None:
        at, who, what = int(e["t"]) * MS, str(e.get("member", "")), str(e["ev"])
        if what == "records":
            self._records(at, who, e["n"])
        elif what in ("sent", "got"):
            self._wire(at, who, what, e)
        elif what.endswith(("_begin", "_end")) and what.partition("_")[0] in _CALLBACKS:
            self._callback(at, who, what, e)
        else:
            told = _SIMPLE.get(what)
            if told is not None:
                told(self, at, who, e)

    def _records(self, at: int, who: str, told: Mapping[str, list[int]]) -> None:
        batch: dict[Partition, tuple[int, int, int]] = {}
        unread = self.unread.get(who)
        for name, numbers in sorted(told.items()):
            p = partition_named(name)
            first, last, age = (
                int(numbers[0]),
                int(numbers[1]),
                int(numbers[2]) * MS if len(numbers) > 2 else -1,
            )
            batch[p] = (first, last, age)
            if unread and p in unread:
                when, how = unread.pop(p)
                if when < 0:
                    when, how = at, "committed"
                self.out.append(
                    ev.PositionFound(when, who, p, first, how, self.delivered.get(p, -1))
                )
            self.delivered[p] = max(self.delivered.get(p, 0), last + 1)
        self.out.append(ev.RecordsDelivered(at, who, batch))

    def _wire(self, at: int, who: str, what: str, e: Mapping[str, Any]) -> None:
        api, number, life = str(e["api"]), int(e["n"]), int(e.get("life", 1))
        generation = int(e.get("generation", e.get("epoch", -1)))
        if what == "sent":
            self.sent[who, life, api, number] = at
            self.out.append(ev.RequestSent(at, who, api, number, generation))
            return
        error = error_name(int(e.get("error", 0)))
        self.out.append(
            ev.ResponseReceived(
                at, who, api, number, error, generation, self.sent.pop((who, life, api, number), -1)
            )
        )
        if api in _POSITION_APIS and not error:
            unread = self.unread.get(who, {})
            for p, (when, _) in unread.items():
                if when < 0:
                    unread[p] = (at, _POSITION_APIS[api])
        elif error == "REBALANCE_IN_PROGRESS" and api != KafkaApi.OFFSET_COMMIT:
            self.out.append(
                ev.RebalanceNoticed(
                    at, who, NoticedBy.SYNC if api == KafkaApi.SYNC else NoticedBy.HEARTBEAT
                )
            )
        elif (
            error
            in (
                "UNKNOWN_MEMBER_ID",
                "FENCED_INSTANCE_ID",
                "FENCED_MEMBER_EPOCH",
                "ILLEGAL_GENERATION",
            )
            and api != KafkaApi.OFFSET_COMMIT
        ):
            self.out.append(ev.Fenced(at, who, api, error))

    def _callback(self, at: int, who: str, what: str, e: Mapping[str, Any]) -> None:
        kind, _, end = what.partition("_")
        if end == "begin":
            partitions = tuple(sorted(partition_named(name) for name in e["partitions"]))
            self.entered[who] = (kind, partitions)
            self._hold(who, kind, partitions)
            self.out.append(ev.CallbackBegan(at, who, kind, partitions))
        else:
            entered = self.entered.pop(who, (kind, ()))
            self.out.append(ev.CallbackEnded(at, who, kind, entered[1]))

    def _hold(self, who: str, kind: str, partitions: tuple[Partition, ...]) -> None:
        owned, unread = self.owned.setdefault(who, {}), self.unread.setdefault(who, {})
        for p in partitions:
            if kind == Callback.ASSIGNED:
                owned[p] = None
                unread[p] = (-1, "")
            else:
                owned.pop(p, None)
                unread.pop(p, None)
        if kind == Callback.ASSIGNED and (synced := self.synced.pop(who, None)) is not None:
            synced.partitions = tuple(sorted(owned))

    def _synced(self, at: int, who: str, e: Mapping[str, Any]) -> None:
        event = ev.AssignmentReceived(
            at, who, int(e["generation"]), tuple(sorted(self.owned.get(who, {})))
        )
        self.synced[who] = event
        self.out.append(event)

    def _gone(self, who: str) -> None:
        for held in (self.owned, self.unread, self.entered, self.synced, self.hanging):
            held.pop(who, None)

    def _act(self, at: int, kind: str, verb: str, who: str, text: str, step: str) -> None:
        """One of the script's steps, under the number it has there."""
        for index, (moment, action, target, *_) in enumerate(self.steps):
            if (
                index not in self.told_steps
                and action == step
                and target == who
                and abs(int(moment) * MS - at) <= 2_000 * MS
            ):
                self.told_steps.add(index)
                if int(moment) > 0:
                    self.out.append(ev.ScriptActed(at, f"{verb}-{who}-{index}", kind, text, (who,)))
                return


def _in_order(told: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """By time; within a ms a `synced` line (from the log) before the callback (from the
    application) that it led to.
    """
    ordered = sorted(told, key=lambda e: int(e["t"]))
    for place, e in enumerate(ordered):
        if e["ev"] != "synced":
            continue
        before = place
        while before > 0 and ordered[before - 1]["t"] == e["t"]:
            before -= 1
        for other in range(before, place):
            if ordered[other].get("member") == e.get("member") and str(
                ordered[other]["ev"]
            ).endswith("_begin"):
                ordered.insert(other, ordered.pop(place))
                break
    return ordered


def _go(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s._act(at, "Join", "start", who, f"start {who}", "start")
    s.out.append(ev.ConsumerStarted(at, who, int(e["life"])))


def _rejoin(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s.out.append(ev.RejoinRequested(at, who, str(e["reason"])))


def _joined(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s.out.append(
        ev.GenerationJoined(at, who, int(e["generation"]), str(e["id"]), str(e["protocol"]))
    )


def _stop(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s._act(at, "Leave", "stop", who, f"stop {who}", "stop")
    s.out.append(ev.StopAsked(at, who))


def _kill(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s._act(at, "Crash", "kill", who, f"kill {who}", "kill")
    s.killed[who] = at
    s.out.append(ev.ConsumerExited(at, who, int(e.get("life", 1)), LifeEnd.KILLED))
    s._gone(who)


def _exit(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    if s.killed.pop(who, None) is None:
        s.out.append(ev.ConsumerExited(at, who, int(e["life"]), LifeEnd.CLOSED))
        s._gone(who)


def _fatal(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s.out.append(
        ev.ConsumerExited(at, who, int(e.get("life", 1)), LifeEnd.FATAL, str(e.get("error", "")))
    )
    s._gone(who)


def _freeze(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s._act(at, "Freeze", "freeze", who, f"freeze {who}", "freeze")
    s.out.append(ev.ConsumerFroze(at, who))


def _hang_asked(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s._act(at, "Hang", "hang", who, f"hang {who} for {int(e['ms'])} ms", "hang")


def _grown(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s._act(
        at, "AddPartitions", "grow", who, f"grow {who} to {int(e['ms'])} partitions", "partitions"
    )
    s.out.append(ev.TopicChanged(at, who, int(e["ms"])))


def _state(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    # only max.poll.interval.ms makes a member leave in the middle of a batch
    if e["after"] == "LEAVING" and who in s.hanging:
        s.out.append(ev.PollExpired(at, who))
        s.out.append(ev.LeaveSent(at, who, "consumer poll timeout has expired."))
    s.out.append(
        ev.MemberStateChanged(
            at, s.group, who, str(e["before"]), str(e["after"]), int(e["epoch"]), "client"
        )
    )


def _hang(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s.hanging[who] = None
    s.out.append(ev.HandlerStuck(at, who, StuckBy.HANG))


def _hang_over(s: _Translation, at: int, who: str, e: Mapping[str, Any]) -> None:
    s.hanging.pop(who, None)
    s.out.append(ev.HandlerReturned(at, who))


_SIMPLE: dict[str, Any] = {
    "go": _go,
    "rejoin": _rejoin,
    "joined": _joined,
    "do_stop": _stop,
    "do_kill": _kill,
    "exit": _exit,
    "fatal": _fatal,
    "do_freeze": _freeze,
    "do_hang": _hang_asked,
    "partitions_done": _grown,
    "state": _state,
    "synced": _Translation._synced,
    "first_poll": lambda s, at, who, e: s.out.append(ev.PollingBegan(at, who, int(e["life"]))),
    "coordinator": lambda s, at, who, e: s.out.append(ev.CoordinatorFound(at, who)),
    "close_begin": lambda s, at, who, e: s.out.append(ev.CloseBegan(at, who)),
    "close_end": lambda s, at, who, e: s.out.append(ev.CloseEnded(at, who)),
    "do_thaw": lambda s, at, who, e: s.out.append(ev.ConsumerThawed(at, who)),
    "hang_begin": _hang,
    "hang_end": _hang_over,
    "handled": lambda s, at, who, e: s.out.append(ev.BatchHandled(at, who)),
    "poll_expired": lambda s, at, who, e: s.out.append(ev.PollExpired(at, who)),
    "leave_sent": lambda s, at, who, e: s.out.append(ev.LeaveSent(at, who, str(e["reason"]))),
    "reset": lambda s, at, who, e: s.out.append(ev.MemberReset(at, who, str(e["reason"]))),
    "commit_failed": lambda s, at, who, e: s.out.append(ev.CommitRefused(at, who, str(e["error"]))),
    "arrived": lambda s, at, who, e: s.out.append(
        ev.MemberAdded(at, s.group, who, str(e["id"]), Arrival.NEW)
    ),
}
