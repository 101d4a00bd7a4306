"""Conversations with Kafka's own coordinator of streams groups, replayed line by line: same
requests, same times, and every answer compared.

Timers of a millisecond fire before the requests of that millisecond, first set first; then come
the answers, then the group's state if it changed. What a recording has to look like is checked
while it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rebalsim.assignors.streams import server_sticky
from rebalsim.domain.errors import InputError
from rebalsim.domain.task_ids import TaskId, task_named
from rebalsim.outside.documents import parse_json
from rebalsim.protocol import streams_group as rules
from rebalsim.protocol.consumer.topics import Topic, TopicsImage
from rebalsim.protocol.effects import Reply
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.streams.group import StreamsGroup, StreamsGroupSettings
from rebalsim.protocol.streams.topology import SentSubtopology, StreamsTopology
from rebalsim.protocol.streams_messages import (
    NO_TASKS,
    UNCHANGED,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Tasks,
)
from rebalsim.verify.conversations import summarise_lines, verify_lines
from rebalsim.verify.epoch_states import ToldStates
from rebalsim.verify.finding import Finding
from rebalsim.verify.same_lines import Astray, Line, is_same, ties_apart
from rebalsim.verify.timer_queue import MS, TimerQueue

KIND = "streams-conversations"
COORDINATOR = "streams-group coordinator"
MOST_PARTITIONS = 100_000


def verify(
    path: Path,
    *,
    differences: int = 3,
    wire: bool = False,
    out: Path | None = None,
    several: bool = False,
) -> Finding:
    """Replay every conversation of the file. `wire`, `out` and `several` are for traces and
    change nothing here.
    """
    return verify_lines(path, KIND, COORDINATOR, differences, _parse, compare)


def summarise(findings: list[Finding]) -> list[str]:
    """One line over all files of this kind."""
    return summarise_lines(findings, COORDINATOR)


def compare(conversation: Line, place: str = "the conversation") -> Line | None:
    """The first place where our coordinator says something else than Kafka's; None if there is
    none.
    """
    theirs: list[Line] = conversation["steps"]
    replay = Replay(conversation, place)
    at = 0
    asked: Line | None = None
    try:
        for mine in replay.lines():
            kafka = theirs[at] if at < len(theirs) else None
            if kafka is None or not is_same(mine, kafka):
                return _difference(at, mine["t"], asked, kafka, mine)
            if "do" in mine:
                asked = mine
            at += 1
    except Astray as e:
        return _difference(at, replay.now, asked, theirs[at] if at < len(theirs) else None, str(e))
    if at < len(theirs):
        return _difference(at, theirs[at].get("t"), asked, theirs[at], None)
    return ties_apart(conversation["timer_ties"], replay.ties, len(theirs))


def _difference(at: int, t: Any, asked: Line | None, kafka: Any, ours: Any) -> Line:
    return {"step": at + 1, "t": t, "request": asked, "kafka": kafka, "rebalsim": ours}


class Replay:
    """One conversation played by the rules: yields the lines that a recording of it would hold."""

    def __init__(self, conversation: Line, place: str) -> None:
        self.place = place
        self.steps: list[Line] = conversation["steps"]
        self.end: int = conversation["end"]
        self.parts: list[Line] = conversation["subtopologies"]
        self.topics: dict[str, Topic] = {}
        self.images = 0
        self.group = StreamsGroup(
            "g",
            settings_of(conversation["config"], place),
            self._image(conversation["topics"]),
        )
        self.timers = TimerQueue()
        self.ties: list[int] = []
        self.states = ToldStates(self.group, self._target)
        self.to_create: dict[str, int] = {}
        self.now = 0
        self.asked = 0

    def lines(self) -> Iterator[Line]:
        """What a recording of this conversation holds, requests included."""
        for step in self.steps:
            if "do" not in step:
                continue
            t = step["t"]
            if t < self.now:
                raise Astray(f"the request is of {t} ms, but it is {self.now} ms already")
            yield from self._until(t)
            self.now = t
            yield step
            yield from self._do(step, t)
            yield from self.states.news(t)
        if self.end < self.now:
            raise Astray(f"the recording ends at {self.end} ms, but it is {self.now} ms already")
        yield from self._until(self.end)

    def _do(self, step: Line, t: int) -> Iterator[Line]:
        if step["do"] == "metadata":
            rules.metadata_changed(self.group, self._image(step["topics"]))
            self.to_create = {
                name: count for name, count in self.to_create.items() if name not in self.topics
            }
        elif step["do"] == "config":
            self.group.settings.num_standby_replicas = step["streams.num.standby.replicas"]
        else:
            self.asked += 1
            if step["id"] != self.asked:
                raise Astray(f"the request should have id {self.asked}, not {step['id']}")
            replies = self.timers.apply(
                rules.heartbeat(self.group, step["id"], self._request(step), t * MS)
            )
            self._fire(t)
            for reply in replies:
                yield self._reply(t, reply)

    # ----------------------------------------------------------------------------------------- time

    def _until(self, t: int) -> Iterator[Line]:
        """Fire all timers up to and including t; those of one ms make one batch."""
        while (now := self.timers.next_ms(t)) is not None:
            self._fire(now)
            yield from self.states.news(now)

    def _fire(self, t: int) -> None:
        fired = 0
        while self.timers.next_ms(t) is not None:
            key = self.timers.pop()
            self.timers.apply(rules.timer_fired(self.group, key, t * MS))
            fired += 1
        if fired > 1:
            self.ties.append(t)

    # ----------------------------------------------------------------------------------- in and out

    def _image(self, counts: Mapping[str, int]) -> TopicsImage:
        """A topic that comes back after it was deleted is another one, as its id tells."""
        self.images += 1
        self.topics = {
            name: Topic(
                self.topics[name].topic_id if name in self.topics else f"{name}@{self.images}",
                count,
            )
            for name, count in counts.items()
        }
        return TopicsImage(self.topics, self.images)

    def _request(self, step: Line) -> StreamsGroupHeartbeatRequest:
        timeout = step["rebalance_timeout_ms"]
        sent = step["topology"]
        return StreamsGroupHeartbeatRequest(
            member_id=step["member"],
            epoch=step["epoch"],
            rebalance_timeout_us=UNCHANGED if timeout == -1 else timeout * MS,
            topology=None if sent is None else self._topology(sent),
            active=_tasks(step["active"]),
            standby=_tasks(step["standby"]),
            warmup=_tasks(step["warmup"]),
            process=step["process"],
            client_id=step["client_id"],
            instance_id=step["instance"],
            shutdown=step["shutdown"],
        )

    def _topology(self, sent: Line) -> StreamsTopology:
        other = "x" if sent.get("differs") else ""
        return StreamsTopology(
            sent["epoch"],
            tuple(
                SentSubtopology(
                    int(part["id"]),
                    tuple(part["sources"]),
                    tuple(part["repartition_sources"]),
                    tuple(part["repartition_sinks"]),
                    tuple(name + other for name in part["changelogs"]),
                    (frozenset([*part["sources"], *part["repartition_sources"]]),)
                    if part["copartitioned"]
                    else (),
                )
                for part in self.parts
            ),
        )

    def _reply(self, t: int, reply: Reply) -> Line:
        answer: StreamsGroupHeartbeatResponse = reply.response
        line: Line = {"t": t, "reply": reply.request, "error": answer.error.name}
        if answer.error is Error.NONE:
            line["member"] = answer.member_id
            line["epoch"] = answer.epoch
            line["heartbeat_interval_ms"] = answer.heartbeat_interval_us // MS
            line["active"] = None if answer.tasks is None else _names(answer.tasks.active)
            line["standby"] = None if answer.tasks is None else _names(answer.tasks.standby)
            line["status"] = list(answer.statuses)
            if answer.create_topics:  # what is still to be created, earlier wishes included
                self.to_create.update(answer.create_topics)
                line["create_topics"] = dict(sorted(self.to_create.items()))
        return line

    def _target(self, member: str) -> dict[str, list[str]]:
        target = self.group.targets.get(member, NO_TASKS)
        return {"active": _names(target.active), "standby": _names(target.standby)}


def _tasks(names: list[str] | None) -> Tasks | None:
    return None if names is None else frozenset(task_named(name) for name in names)


def _names(tasks: Tasks) -> list[str]:
    """In the order of the recording: sub-topologies as texts, then numbers."""

    def order(task: TaskId) -> tuple[str, int]:
        return str(task.subtopology), task.number

    return [str(task) for task in sorted(tasks, key=order)]


# ------------------------------------------------------------------------------------------ reading


def settings_of(config: Line, place: str) -> StreamsGroupSettings:
    """The group's settings from the recording's broker configuration."""

    def number(key: str) -> int:
        value = config.get(f"group.streams.{key}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InputError(
                f"{place}: config has {json.dumps(value)[:60]} for group.streams.{key} — a "
                "recording holds the broker's setting, a whole number"
            )
        return value

    return StreamsGroupSettings(
        server_sticky.assign,
        number("session.timeout.ms") * MS,
        number("heartbeat.interval.ms") * MS,
        number("num.standby.replicas"),
        number("initial.rebalance.delay.ms") * MS,
        number("assignment.interval.ms") * MS,
        number("max.size"),
    )


_TEXT = (str, "a text")
_MAYBE_TEXT = ((str, type(None)), "a text or null")
_NUMBER = (int, "a whole number")
_NAMES = ((list, type(None)), "a list of texts or null")
_LIST = (list, "a list")
_OBJECT = (dict, "an object")

_HEARTBEAT: dict[str, tuple[Any, str]] = {
    "t": _NUMBER,
    "id": _NUMBER,
    "member": _TEXT,
    "epoch": _NUMBER,
    "rebalance_timeout_ms": _NUMBER,
    "topology": ((dict, type(None)), "an object or null"),
    "active": _NAMES,
    "standby": _NAMES,
    "warmup": _NAMES,
    "process": _MAYBE_TEXT,
    "client_id": _TEXT,
    "instance": _MAYBE_TEXT,
}
_PARTS = ("sources", "repartition_sources", "repartition_sinks", "changelogs")


def _parse(text: str, place: str) -> Line:
    """One conversation, checked as far as the replay relies on it."""
    conversation = parse_json(text, place)
    wanted = {
        "config": _OBJECT,
        "topics": _OBJECT,
        "subtopologies": _LIST,
        "steps": _LIST,
        "end": _NUMBER,
        "timer_ties": _LIST,
    }
    _check(conversation, wanted, place, "the conversation")
    _check_topics(conversation["topics"], place)
    for part in conversation["subtopologies"]:
        _check(part, {"id": _TEXT, **dict.fromkeys(_PARTS, _LIST)}, place, "a sub-topology")
        names = [name for key in _PARTS for name in part[key]]
        if not part["id"].isdecimal() or not all(isinstance(name, str) for name in names):
            raise InputError(f"{place}: a sub-topology has a number and names of topics")
        if not isinstance(part.get("copartitioned"), bool):
            raise InputError(f"{place}: a sub-topology is copartitioned or it is not")
    for number, step in enumerate(conversation["steps"], 1):
        _check_step(step, place, f"step {number}")
    return dict(conversation)


def _check_step(step: Any, place: str, where: str) -> None:
    _check(step, {}, place, where)
    if "do" not in step:  # an answer or a state: compared as it stands
        return
    if step["do"] == "metadata":
        _check(step, {"t": _NUMBER, "topics": _OBJECT}, place, where)
        _check_topics(step["topics"], place)
    elif step["do"] == "config":
        _check(step, {"t": _NUMBER, "streams.num.standby.replicas": _NUMBER}, place, where)
        if not 0 <= step["streams.num.standby.replicas"] <= 1_000:
            raise InputError(f"{place}: {where} has a number of standbys out of bounds")
    elif step["do"] == "heartbeat":
        _check(step, _HEARTBEAT, place, where)
        if not isinstance(step.get("shutdown"), bool):
            raise InputError(f"{place}: {where} asks for a shutdown or it does not")
        if step["topology"] is not None:
            _check(step["topology"], {"epoch": _NUMBER}, place, f"{where}'s topology")
        for role in ("active", "standby", "warmup"):
            for name in step[role] or ():
                if not isinstance(name, str):
                    raise InputError(f"{place}: {where} has {name!r} in {role} — it lists tasks")
                task_named(name)
    else:
        raise InputError(
            f"{place}: {where} does {json.dumps(step['do'])[:60]} — a request is heartbeat, "
            "metadata or config"
        )


def _check(thing: Any, wanted: Mapping[str, tuple[Any, str]], place: str, where: str) -> None:
    if not isinstance(thing, dict):
        raise InputError(f"{place}: {where} is no JSON object")
    for key, (kind, words) in wanted.items():
        if key not in thing:
            raise InputError(f"{place}: {where} has no {key} — it needs {', '.join(wanted)}")
        if not isinstance(thing[key], kind) or isinstance(thing[key], bool):
            raise InputError(
                f"{place}: {where} has {key} {json.dumps(thing[key])[:60]} — it must be {words}"
            )


def _check_topics(topics: Line, place: str) -> None:
    for name, count in topics.items():
        if not isinstance(count, int) or not 0 <= count <= MOST_PARTITIONS:
            raise InputError(
                f"{place}: topic {name} has {json.dumps(count)[:60]} partitions — a topic has 0 "
                f"to {MOST_PARTITIONS}"
            )
