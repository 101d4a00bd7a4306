"""Conversations with Kafka's own coordinator of consumer groups, replayed line by line: same
requests, same times, and every answer compared.

Timers of a millisecond fire before the requests of that millisecond, first set first; then come
the answers, then the group's state if it changed. The recording is one JSON object a line; what
it has to look like is checked while it is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rebalsim.assignors.registry import server_assignor
from rebalsim.domain.errors import BugError, InputError
from rebalsim.outside.documents import parse_json
from rebalsim.protocol import consumer_group as rules
from rebalsim.protocol.consumer.assignor import Assignor
from rebalsim.protocol.consumer.commits import check_commit, check_fetch
from rebalsim.protocol.consumer.group import ConsumerGroup, ConsumerGroupSettings
from rebalsim.protocol.consumer.regexes import TIMER as REGEXES
from rebalsim.protocol.consumer.topics import Topic, TopicsImage
from rebalsim.protocol.consumer_messages import (
    UNCHANGED,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from rebalsim.protocol.effects import Reply
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.verify.conversations import summarise_lines, verify_lines
from rebalsim.verify.epoch_states import ToldStates
from rebalsim.verify.finding import Finding
from rebalsim.verify.same_lines import Astray, Line, is_same, ties_apart
from rebalsim.verify.timer_queue import MS, TimerQueue

MOST_PARTITIONS = 100_000
SERVER_ASSIGNORS: dict[str, Assignor] = {
    name: server_assignor(name).assign for name in ("uniform", "range")
}


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
    return verify_lines(
        path, "consumer", "consumer-group coordinator", differences, _parse, compare
    )


def summarise(findings: list[Finding]) -> list[str]:
    """One line over all files of this kind."""
    return summarise_lines(findings, "consumer-group coordinator")


def compare(
    conversation: Line,
    place: str = "the conversation",
    assignors: Mapping[str, Assignor] | None = None,
) -> Line | None:
    """The first place where our coordinator says something else than Kafka's; None if there is
    none.
    """
    theirs: list[Line] = conversation["steps"]
    replay = Replay(conversation, place, assignors)
    at = 0
    asked: Line | None = None
    try:
        for mine in replay.lines():
            kafka = theirs[at] if at < len(theirs) else None
            if kafka is None or not is_same(mine, kafka):
                return {
                    "step": at + 1,
                    "t": mine["t"],
                    "request": asked,
                    "kafka": kafka,
                    "rebalsim": mine,
                }
            if "do" in mine:
                asked = mine
            at += 1
    except (BugError, Astray) as e:
        says = f"rebalsim contradicts itself: {e}" if isinstance(e, BugError) else str(e)
        return {
            "step": at + 1,
            "t": replay.now,
            "request": asked,
            "kafka": theirs[at] if at < len(theirs) else None,
            "rebalsim": says,
        }
    if at < len(theirs):
        return {
            "step": at + 1,
            "t": theirs[at].get("t"),
            "request": asked,
            "kafka": theirs[at],
            "rebalsim": None,
        }
    return ties_apart(conversation["timer_ties"], replay.ties, len(theirs))


class Replay:
    """One conversation played by the rules: yields the lines that a recording of it would hold."""

    def __init__(
        self, conversation: Line, place: str, assignors: Mapping[str, Assignor] | None = None
    ) -> None:
        self.place = place
        self.steps: list[Line] = conversation["steps"]
        self.end: int = conversation["end"]
        # of topics that ever were; a deleted one does not return under its name
        self.ids: dict[str, str] = {}
        self.images = 0
        self.group = ConsumerGroup(
            "g",
            settings_of(conversation["config"], place, assignors),
            self._image(conversation["topics"]),
        )
        self.timers = TimerQueue()
        self.ties: list[int] = []
        self.states = ToldStates(self.group, self._target)
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
            if step["do"] != "metadata":
                self.asked += 1
                if step["id"] != self.asked:
                    raise Astray(f"the request should have id {self.asked}, not {step['id']}")
            yield step
            if step["do"] == "metadata":
                self.timers.apply(
                    rules.metadata_changed(self.group, self._image(step["topics"]), t * MS)
                )
                # the first update that this coordinator ever gets counts as one with new topics
                if self.images == 2:
                    self.group.newest_topics_version = self.images
            elif step["do"] != "heartbeat":
                yield self._offsets(step)
            else:
                replies = self.timers.apply(
                    rules.heartbeat(self.group, step["id"], self._request(step), t * MS)
                )
                self._fire(t)
                for reply in replies:
                    yield self._reply(t, reply)
            yield from self.states.news(t)
        if self.end < self.now:
            raise Astray(f"the recording ends at {self.end} ms, but it is {self.now} ms already")
        yield from self._until(self.end)

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
            fired += key != REGEXES  # a thread of the broker, and none of its timers
        if fired > 1:
            self.ties.append(t)

    # ----------------------------------------------------------------------------------- in and out

    def _image(self, topics: Line) -> TopicsImage:
        self.images += 1
        for name, facts in topics.items():
            self.ids[name] = facts["id"]
        return TopicsImage(
            {name: Topic(facts["id"], facts["partitions"]) for name, facts in topics.items()},
            self.images,
        )

    def _request(self, step: Line) -> ConsumerGroupHeartbeatRequest:
        owned: dict[str, list[int]] | None = None
        if step["owned"] is not None:
            owned = {}
            for partition in step["owned"]:
                topic, _, number = partition.rpartition("-")
                owned.setdefault(self.ids.get(topic, topic), []).append(int(number))
        timeout = step["rebalance_timeout_ms"]
        return ConsumerGroupHeartbeatRequest(
            member_id=step["member"],
            epoch=step["epoch"],
            instance_id=step["instance"],
            rebalance_timeout_us=UNCHANGED if timeout == -1 else timeout * MS,
            topics=step["topics"],
            regex=step.get("regex"),
            assignor=step["assignor"],
            owned=owned,
        )

    def _offsets(self, step: Line) -> Line:
        """The answer to a commit or a fetch of offsets."""
        asked = [
            (self.ids.get(topic, topic), int(number))
            for topic, _, number in (p.rpartition("-") for p in step["partitions"])
        ]
        line: Line = {"t": step["t"], "reply": step["id"]}
        if step["do"] == "fetch":
            line["error"] = check_fetch(self.group, step["member"] or None, step["epoch"]).name
        else:
            error = check_commit(
                self.group, step["member"], step["epoch"], asked, instance_id=step["instance"]
            )
            line["error"] = error.name
            if error is Error.NONE:
                line["errors"] = dict.fromkeys(step["partitions"], Error.NONE.name)
        return line

    def _reply(self, t: int, reply: Reply) -> Line:
        answer: ConsumerGroupHeartbeatResponse = reply.response
        line: Line = {"t": t, "reply": reply.request, "error": answer.error.name}
        if answer.error is Error.NONE:
            line["member"] = answer.member_id
            line["epoch"] = answer.epoch
            line["heartbeat_interval_ms"] = answer.heartbeat_interval_us // MS
            line["assignment"] = (
                None if answer.assignment is None else self._names(answer.assignment)
            )
        return line

    def _names(self, held: Mapping[str, Any]) -> list[str]:
        return [str(p) for p in self.group.partitions(held)]

    def _target(self, member: str) -> Any:
        return self._names(self.group.targets.get(member, {}))


# ------------------------------------------------------------------------------------------ reading


def settings_of(
    config: Line, place: str, assignors: Mapping[str, Assignor] | None = None
) -> ConsumerGroupSettings:
    """The group's settings from the recording's broker configuration."""
    known = SERVER_ASSIGNORS if assignors is None else assignors

    def number(key: str) -> int:
        value = config.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InputError(
                f"{place}: config has {json.dumps(value)[:60]} for {key} — a recording holds the "
                "broker's setting, a whole number"
            )
        return value

    names = config.get("group.consumer.assignors")
    if (
        not isinstance(names, list)
        or not names
        or any(not isinstance(name, str) or name not in known for name in names)
    ):
        raise InputError(
            f"{place}: config names the assignors {names} — known are {', '.join(known)}"
        )
    return ConsumerGroupSettings(
        assignors={name: known[name] for name in names},
        session_timeout_us=number("group.consumer.session.timeout.ms") * MS,
        heartbeat_interval_us=number("group.consumer.heartbeat.interval.ms") * MS,
        max_size=number("group.consumer.max.size"),
        assignment_interval_us=number("group.consumer.assignment.interval.ms") * MS,
    )


_TEXT = (str, "a text")
_MAYBE_TEXT = ((str, type(None)), "a text or null")
_NUMBER = (int, "a whole number")
_NAMES = ((list, type(None)), "a list of texts or null")

_HEARTBEAT: dict[str, tuple[Any, str]] = {
    "t": _NUMBER,
    "id": _NUMBER,
    "member": _TEXT,
    "instance": _MAYBE_TEXT,
    "epoch": _NUMBER,
    "rebalance_timeout_ms": _NUMBER,
    "topics": _NAMES,
    "owned": _NAMES,
    "assignor": _MAYBE_TEXT,
}

_OFFSETS: dict[str, tuple[Any, str]] = {
    "t": _NUMBER,
    "id": _NUMBER,
    "member": _TEXT,
    "instance": _MAYBE_TEXT,
    "epoch": _NUMBER,
    "partitions": (list, "a list"),
}


def _parse(text: str, place: str) -> Line:
    """One conversation, checked as far as the replay relies on it."""
    try:
        conversation = parse_json(text, place)
    except ValueError as e:
        raise InputError(f"{place}: is not JSON ({e}) — every line is one conversation") from None
    except RecursionError:
        raise InputError(
            f"{place}: is nested too deeply for a conversation — every line is one conversation"
        ) from None
    _check(
        conversation,
        {
            "config": (dict, "an object"),
            "topics": (dict, "an object"),
            "steps": (list, "a list"),
            "end": _NUMBER,
            "timer_ties": (list, "a list"),
        },
        place,
        "the conversation",
    )
    _check_topics(conversation["topics"], place)
    for number, step in enumerate(conversation["steps"], 1):
        where = f"step {number}"
        _check(step, {}, place, where)
        if "do" not in step:  # an answer or a state: compared as it stands
            continue
        if step["do"] == "metadata":
            _check(step, {"t": _NUMBER, "topics": (dict, "an object")}, place, where)
            _check_topics(step["topics"], place)
        elif step["do"] == "heartbeat":
            _check(step, _HEARTBEAT, place, where)
            if not isinstance(step.get("regex"), str | None):
                raise InputError(
                    f"{place}: {where} has regex {json.dumps(step['regex'])[:60]} — it must be a "
                    "text or null"
                )
            if not all(isinstance(name, str) for name in step["topics"] or ()):
                raise InputError(
                    f"{place}: {where} has something in topics that is no text — it lists names"
                )
            _check_partitions(step, "owned", place, where)
        elif step["do"] in ("commit", "fetch"):
            _check(step, _OFFSETS, place, where)
            _check_partitions(step, "partitions", place, where)
        else:
            raise InputError(
                f"{place}: {where} does {json.dumps(step['do'])[:60]} — a request is heartbeat, "
                "commit, fetch or metadata"
            )
    return dict(conversation)


def _check(thing: Any, wanted: Mapping[str, tuple[Any, str]], place: str, where: str) -> None:
    if not isinstance(thing, dict):
        raise InputError(
            f"{place}: {where} is no JSON "
            f"object{' — it needs ' + ', '.join(wanted) if wanted else ' — every step is one'}"
        )
    for key, (kind, words) in wanted.items():
        if key not in thing:
            raise InputError(f"{place}: {where} has no {key} — it needs {', '.join(wanted)}")
        if not isinstance(thing[key], kind) or isinstance(thing[key], bool):
            raise InputError(
                f"{place}: {where} has {key} {json.dumps(thing[key])[:60]} — it must be {words}"
            )


def _check_partitions(step: Line, key: str, place: str, where: str) -> None:
    for name in step[key] or ():
        if not isinstance(name, str) or not _is_partition(name):
            raise InputError(
                f"{place}: {where} has {json.dumps(name)[:60]} in {key} — a partition is written "
                "topic-number"
            )


def _check_topics(topics: Line, place: str) -> None:
    for name, facts in topics.items():
        _check(facts, {"id": _TEXT, "partitions": _NUMBER}, place, f"topic {name}")
        if not 0 <= facts["partitions"] <= MOST_PARTITIONS:
            raise InputError(
                f"{place}: topic {name} has {facts['partitions']} partitions — a topic has 0 to "
                f"{MOST_PARTITIONS}"
            )
        if not _is_topic_id(facts["id"]):
            raise InputError(
                f"{place}: topic {name} has the id {facts['id']!r} — a topic id has 22 "
                "characters of URL-safe base64"
            )


_is_partition = re.compile("(?s:.+)-[0-9]{1,9}").fullmatch
_is_topic_id = re.compile("[A-Za-z0-9_-]{22}").fullmatch
