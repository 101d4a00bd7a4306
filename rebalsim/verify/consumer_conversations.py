"""Conversations with Kafka's own coordinator of consumer groups, replayed line by line: same
requests, same times, and every answer compared. The recording is one JSON object a line; what it
has to look like is checked while it is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rebalsim.assignors.registry import server_assignor
from rebalsim.domain.errors import InputError
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
from rebalsim.protocol.effects import Effect
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.verify.conversations import summarise_lines, verify_lines
from rebalsim.verify.epoch_conversations import (
    LIST,
    MAYBE_TEXT,
    MOST_PARTITIONS,
    NAMES,
    NUMBER,
    TEXT,
    EpochReplay,
    Shape,
    check_shape,
    first_difference,
    parsed,
    setting_in,
)
from rebalsim.verify.finding import Finding
from rebalsim.verify.same_lines import Line
from rebalsim.verify.timer_queue import MS

SERVER_ASSIGNORS: dict[str, Assignor] = {
    name: server_assignor(name).assign for name in ("uniform", "range")
}


def verify(path: Path, *, differences: int = 3) -> Finding:
    """Replay every conversation of the file."""
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
    return first_difference(conversation, Replay(conversation, place, assignors))


class Replay(EpochReplay):
    """See EpochReplay; of a consumer group."""

    threads = frozenset((REGEXES,))

    def __init__(
        self, conversation: Line, place: str, assignors: Mapping[str, Assignor] | None = None
    ) -> None:
        # of topics that ever were; a deleted one does not return under its name
        self.ids: dict[str, str] = {}
        self.images = 0
        settings = settings_of(conversation["config"], place, assignors)
        group = ConsumerGroup("g", settings, self._image(conversation["topics"]))
        super().__init__(conversation, group)

    def done(self, step: Line, t: int) -> Iterator[Line]:
        if step["do"] == "metadata":
            image = self._image(step["topics"])
            self.timers.apply(rules.metadata_changed(self.group, image, t * MS))
            # the first update that this coordinator ever gets counts as one with new topics
            if self.images == 2:
                self.group.newest_topics_version = self.images
        elif step["do"] != "heartbeat":
            yield self._offsets(step)
        else:
            yield from self.answered(step, t)

    def heard(self, step: Line, now_us: int) -> Iterable[Effect]:
        return rules.heartbeat(self.group, step["id"], self._request(step), now_us)

    def timer_fired(self, key: str, now_us: int) -> Iterable[Effect]:
        return rules.timer_fired(self.group, key, now_us)

    def target_of(self, member: str) -> Any:
        return self._names(self.group.targets.get(member, {}))

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

    def assigned(self, answer: ConsumerGroupHeartbeatResponse) -> Line:
        given = answer.assignment
        return {"assignment": None if given is None else self._names(given)}

    def _names(self, held: Mapping[str, Any]) -> list[str]:
        return [str(p) for p in self.group.partitions(held)]


# ------------------------------------------------------------------------------------------ reading


def settings_of(
    config: Line, place: str, assignors: Mapping[str, Assignor] | None = None
) -> ConsumerGroupSettings:
    """The group's settings from the recording's broker configuration."""
    known = SERVER_ASSIGNORS if assignors is None else assignors

    def number(key: str) -> int:
        return setting_in(config, f"group.consumer.{key}", place)

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
        session_timeout_us=number("session.timeout.ms") * MS,
        heartbeat_interval_us=number("heartbeat.interval.ms") * MS,
        max_size=number("max.size"),
        assignment_interval_us=number("assignment.interval.ms") * MS,
    )


_HEARTBEAT: Shape = {
    "t": NUMBER,
    "id": NUMBER,
    "member": TEXT,
    "instance": MAYBE_TEXT,
    "epoch": NUMBER,
    "rebalance_timeout_ms": NUMBER,
    "topics": NAMES,
    "owned": NAMES,
    "assignor": MAYBE_TEXT,
}

_OFFSETS: Shape = {
    "t": NUMBER,
    "id": NUMBER,
    "member": TEXT,
    "instance": MAYBE_TEXT,
    "epoch": NUMBER,
    "partitions": LIST,
}


def _parse(text: str, place: str) -> Line:
    return parsed(text, place, {}, _check_topics, _check_request)


def _check_request(step: Line, place: str, where: str) -> None:
    wrong = ""
    if step["do"] == "heartbeat":
        check_shape(step, _HEARTBEAT, place, where)
        if not isinstance(step.get("regex"), str | None):
            wrong = f"has regex {json.dumps(step['regex'])[:60]} — it must be a text or null"
        elif not all(isinstance(name, str) for name in step["topics"] or ()):
            wrong = "has something in topics that is no text — it lists names"
        _check_partitions(step, "owned", place, where)
    elif step["do"] in ("commit", "fetch"):
        check_shape(step, _OFFSETS, place, where)
        _check_partitions(step, "partitions", place, where)
    else:
        requests = "a request is heartbeat, commit, fetch or metadata"
        wrong = f"does {json.dumps(step['do'])[:60]} — {requests}"
    if wrong:
        raise InputError(f"{place}: {where} {wrong}")


def _check_partitions(step: Line, key: str, place: str, where: str) -> None:
    for name in step[key] or ():
        if not isinstance(name, str) or not _is_partition(name):
            raise InputError(
                f"{place}: {where} has {json.dumps(name)[:60]} in {key} — a partition is written "
                "topic-number"
            )


def _check_topics(topics: Line, place: str) -> None:
    for name, facts in topics.items():
        check_shape(facts, {"id": TEXT, "partitions": NUMBER}, place, f"topic {name}")
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
