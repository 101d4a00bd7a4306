"""Conversations with Kafka's own coordinator of streams groups, replayed line by line: same
requests, same times, and every answer compared. What a recording has to look like is checked while
it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rebalsim.assignors.streams import server_sticky
from rebalsim.domain.errors import InputError
from rebalsim.domain.task_ids import TaskId, task_named
from rebalsim.protocol import streams_group as rules
from rebalsim.protocol.consumer.topics import Topic, TopicsImage
from rebalsim.protocol.effects import Effect
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

KIND = "streams-conversations"
COORDINATOR = "streams-group coordinator"


def verify(path: Path, *, differences: int = 3) -> Finding:
    """Replay every conversation of the file."""
    return verify_lines(path, KIND, COORDINATOR, differences, _parse, compare)


def summarise(findings: list[Finding]) -> list[str]:
    """One line over all files of this kind."""
    return summarise_lines(findings, COORDINATOR)


def compare(conversation: Line, place: str = "the conversation") -> Line | None:
    """The first place where our coordinator says something else than Kafka's; None if there is
    none.
    """
    return first_difference(conversation, Replay(conversation, place))


class Replay(EpochReplay):
    """See EpochReplay; of a streams group."""

    def __init__(self, conversation: Line, place: str) -> None:
        self.parts: list[Line] = conversation["subtopologies"]
        self.topics: dict[str, Topic] = {}
        self.images = 0
        self.to_create: dict[str, int] = {}
        settings = settings_of(conversation["config"], place)
        super().__init__(
            conversation, StreamsGroup("g", settings, self._image(conversation["topics"]))
        )

    def done(self, step: Line, t: int) -> Iterator[Line]:
        if step["do"] == "metadata":
            rules.metadata_changed(self.group, self._image(step["topics"]))
            self.to_create = {
                name: count for name, count in self.to_create.items() if name not in self.topics
            }
        elif step["do"] == "config":
            self.group.settings.num_standby_replicas = step["streams.num.standby.replicas"]
        else:
            yield from self.answered(step, t)

    def heard(self, step: Line, now_us: int) -> Iterable[Effect]:
        return rules.heartbeat(self.group, step["id"], self._request(step), now_us)

    def timer_fired(self, key: str, now_us: int) -> Iterable[Effect]:
        return rules.timer_fired(self.group, key, now_us)

    def target_of(self, member: str) -> dict[str, list[str]]:
        target = self.group.targets.get(member, NO_TASKS)
        return {"active": _names(target.active), "standby": _names(target.standby)}

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

    def assigned(self, answer: StreamsGroupHeartbeatResponse) -> Line:
        line: Line = {
            "active": None if answer.tasks is None else _names(answer.tasks.active),
            "standby": None if answer.tasks is None else _names(answer.tasks.standby),
            "status": list(answer.statuses),
        }
        if answer.create_topics:  # what is still to be created, earlier wishes included
            self.to_create.update(answer.create_topics)
            line["create_topics"] = dict(sorted(self.to_create.items()))
        return line


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
        return setting_in(config, f"group.streams.{key}", place)

    return StreamsGroupSettings(
        server_sticky.assign,
        number("session.timeout.ms") * MS,
        number("heartbeat.interval.ms") * MS,
        number("num.standby.replicas"),
        number("initial.rebalance.delay.ms") * MS,
        number("assignment.interval.ms") * MS,
        number("max.size"),
    )


_HEARTBEAT: Shape = {
    "t": NUMBER,
    "id": NUMBER,
    "member": TEXT,
    "epoch": NUMBER,
    "rebalance_timeout_ms": NUMBER,
    "topology": ((dict, type(None)), "an object or null"),
    "active": NAMES,
    "standby": NAMES,
    "warmup": NAMES,
    "process": MAYBE_TEXT,
    "client_id": TEXT,
    "instance": MAYBE_TEXT,
}
_PARTS = ("sources", "repartition_sources", "repartition_sinks", "changelogs")


def _parse(text: str, place: str) -> Line:
    conversation = parsed(text, place, {"subtopologies": LIST}, _check_topics, _check_request)
    for part in conversation["subtopologies"]:
        check_shape(part, {"id": TEXT, **dict.fromkeys(_PARTS, LIST)}, place, "a sub-topology")
        names = [name for key in _PARTS for name in part[key]]
        if not part["id"].isdecimal() or not all(isinstance(name, str) for name in names):
            raise InputError(f"{place}: a sub-topology has a number and names of topics")
        if not isinstance(part.get("copartitioned"), bool):
            raise InputError(f"{place}: a sub-topology is copartitioned or it is not")
    return conversation


def _check_request(step: Line, place: str, where: str) -> None:
    if step["do"] == "config":
        check_shape(step, {"t": NUMBER, "streams.num.standby.replicas": NUMBER}, place, where)
        if not 0 <= step["streams.num.standby.replicas"] <= 1_000:
            raise InputError(f"{place}: {where} has a number of standbys out of bounds")
    elif step["do"] == "heartbeat":
        check_shape(step, _HEARTBEAT, place, where)
        if not isinstance(step.get("shutdown"), bool):
            raise InputError(f"{place}: {where} asks for a shutdown or it does not")
        if step["topology"] is not None:
            check_shape(step["topology"], {"epoch": NUMBER}, place, f"{where}'s topology")
        _check_tasks(step, place, where)
    else:
        raise InputError(
            f"{place}: {where} does {json.dumps(step['do'])[:60]} — a request is heartbeat, "
            "metadata or config"
        )


def _check_tasks(step: Line, place: str, where: str) -> None:
    for role in ("active", "standby", "warmup"):
        for name in step[role] or ():
            if not isinstance(name, str):
                raise InputError(f"{place}: {where} has {name!r} in {role} — it lists tasks")
            task_named(name)


def _check_topics(topics: Line, place: str) -> None:
    for name, count in topics.items():
        if not isinstance(count, int) or not 0 <= count <= MOST_PARTITIONS:
            raise InputError(
                f"{place}: topic {name} has {json.dumps(count)[:60]} partitions — a topic has 0 "
                f"to {MOST_PARTITIONS}"
            )
