"""Conversations of mixed groups with Kafka's own coordinator (recorded as those of
tests/reality/conversations are), line by line.

Clients restart now with the one protocol, now with the other; groups are upgraded and downgraded
under every migration policy.
"""

from __future__ import annotations

import gzip
import heapq
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from rebalsim.assignors.registry import server_assignor
from rebalsim.domain.ids import Partition, partition_named
from rebalsim.protocol import either_group
from rebalsim.protocol.classic.group import ClassicGroup
from rebalsim.protocol.classic.rules import CoordinatorRules
from rebalsim.protocol.consumer.classic_members import Said
from rebalsim.protocol.consumer.group import ConsumerGroupSettings
from rebalsim.protocol.consumer.topics import Topic, TopicsImage
from rebalsim.protocol.consumer_messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from rebalsim.protocol.effects import Append, CancelTimer, Effect, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeavingMember,
    SyncGroupRequest,
    SyncGroupResponse,
)

Line = dict[str, Any]
MS = 1_000
SAMPLE = Path(__file__).parents[1] / "reality" / "conversations" / "mixed.jsonl.gz"


class Words:
    def subscription(self, metadata: Any) -> Said:
        return Said(*metadata)

    def assigned(self, assignment: Any) -> tuple[Partition, ...]:
        return assignment or ()

    def assignment(self, partitions: tuple[Partition, ...]) -> Any:
        return partitions


class Replay:
    def __init__(self, conversation: Line) -> None:
        config = conversation["config"]
        self.steps: list[Line] = conversation["steps"]
        self.end: int = conversation["end"]
        self.images = 0
        self.topics = conversation["topics"]
        self.either = either_group.EitherGroup(
            "g",
            CoordinatorRules(
                initial_rebalance_delay_us=config["group.initial.rebalance.delay.ms"] * MS,
                min_session_timeout_us=3_000 * MS,
                max_session_timeout_us=60_000 * MS,
                max_size=config["group.max.size"],
            ),
            ConsumerGroupSettings(
                {name: server_assignor(name).assign for name in config["group.consumer.assignors"]},
                session_timeout_us=10_000 * MS,
                heartbeat_interval_us=2_000 * MS,
                max_size=config["group.consumer.max.size"],
                assignment_interval_us=config["group.consumer.assignment.interval.ms"] * MS,
            ),
            Words(),
            self._member_id,
            config["group.consumer.migration.policy"],
            self._image(self.topics),
        )
        self.timers: dict[str, tuple[int, int]] = {}
        self.queue: list[tuple[int, int, str]] = []
        self.set = 0
        self.replies: list[Reply] = []
        self.state: Line | None = None
        self.at = self.number = self.now = 0

    def _image(self, topics: Line) -> TopicsImage:
        self.images += 1
        self.topics = topics
        return TopicsImage(
            {name: Topic(facts["id"], facts["partitions"]) for name, facts in topics.items()},
            self.images,
        )

    def _member_id(self, prefix: str) -> str:
        """Kafka draws it: the one in the answer, or, if there is none, the one that is new in
        the next state.
        """
        known = {m if isinstance(m, str) else m[0] for m in (self.state or {}).get("members", ())}
        for line in self.steps[self.at :]:
            if line.get("reply") == self.number:
                return str(line["member"] or "none")
        for line in self.steps[self.at :]:
            for member in line.get("members", ()) if "kind" in line else ():
                name = member if isinstance(member, str) else member[0]
                if name not in known and name.startswith(prefix):
                    return str(name)
        return "never seen"

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, SetTimer):
                self.timers[effect.key] = (effect.due_us, self.set)
                heapq.heappush(self.queue, (effect.due_us, self.set, effect.key))
                self.set += 1
            elif isinstance(effect, CancelTimer):
                self.timers.pop(effect.key, None)
            elif isinstance(effect, Reply):
                self.replies.append(effect)
            elif isinstance(effect, Append):
                self._do(either_group.written(self.either, effect.number, None, self.now * MS))

    def _is_due(self, t: int) -> bool:
        while self.queue and self.timers.get(self.queue[0][2]) != self.queue[0][:2]:
            heapq.heappop(self.queue)
        return bool(self.queue) and self.queue[0][0] <= t * MS

    def _fire(self, t: int) -> None:
        self.now = t
        while self._is_due(t):
            key = heapq.heappop(self.queue)[2]
            del self.timers[key]
            self._do(either_group.fired(self.either, key, t * MS))

    def _until(self, t: int) -> Iterator[Line]:
        while self._is_due(t):
            now = self.queue[0][0] // MS
            self._fire(now)
            yield from self._told(now, -1)

    def lines(self) -> Iterator[Line]:
        for at, step in enumerate(self.steps):
            if "do" not in step:
                continue
            self.at = at
            t = step["t"]
            yield from self._until(t)
            yield step
            self.now, self.number = t, step.get("id", -1)
            if step["do"] == "metadata":
                self._do(
                    either_group.metadata_changed(self.either, self._image(step["topics"]), t * MS)
                )
                yield from self._told(t, -1)
                continue
            self._do(either_group.step(self.either, self.number, self._request(step), t * MS))
            self._fire(t)
            yield from self._told(
                t, self.number if step["do"] in ("beat", "leave", "heartbeat") else -1
            )
        yield from self._until(self.end)

    def _request(self, step: Line) -> Any:
        owned = tuple(partition_named(name) for name in step.get("owned") or ())
        match step["do"]:
            case "join":
                said = (tuple(step["topics"]), owned)
                return JoinGroupRequest(
                    step["member"],
                    step["instance"],
                    step["client_id"],
                    step["session_ms"] * MS,
                    step["rebalance_ms"] * MS,
                    tuple((name, said) for name in step["protocols"]),
                )
            case "sync":
                shares = {
                    m: tuple(partition_named(name) for name in names)
                    for m, names in step["assignments"].items()
                }
                return SyncGroupRequest(
                    step["member"],
                    step["instance"],
                    step["generation"],
                    "consumer",
                    step["protocol"],
                    shares,
                )
            case "beat":
                return HeartbeatRequest(step["member"], step["instance"], step["generation"])
            case "leave":
                return LeaveGroupRequest([LeavingMember(step["member"], step["instance"])])
        by_id: dict[str, list[int]] = {}
        for partition in owned:
            by_id.setdefault(self.topics[partition.topic]["id"], []).append(partition.number)
        timeout = step["rebalance_timeout_ms"]
        return ConsumerGroupHeartbeatRequest(
            step["member"],
            step["epoch"],
            step["instance"],
            None,
            timeout if timeout == -1 else timeout * MS,
            step["topics"],
            None,
            step["assignor"],
            None if step["owned"] is None else by_id,
            step["client_id"],
        )

    def _told(self, t: int, first: int) -> Iterator[Line]:
        """The answers (the one that was not waited for first, then by request), and the state if
        it changed.
        """
        replies, self.replies = self.replies, []
        for reply in sorted(replies, key=lambda r: (r.request != first, r.request)):
            yield {"t": t, "reply": reply.request, **self._answer(reply.response)}
        group = self.either.group
        if not group.exists:
            return
        state: Line
        if isinstance(group, ClassicGroup):
            state = {
                "kind": "classic",
                "state": group.state.value,
                "generation": group.generation,
                "leader": group.leader_id,
                "protocol": group.protocol,
                "members": sorted(group.members),
            }
        else:
            members = [group.members[m] for m in sorted(group.members)]
            state = {
                "kind": "consumer",
                "group_epoch": group.epoch,
                "assignment_epoch": group.assignment_epoch,
                "state": group.state.value,
                "members": [
                    [
                        m.member_id,
                        m.epoch,
                        m.state.value,
                        m.classic is not None,
                        self._names(m.assigned),
                        self._names(m.pending),
                    ]
                    for m in members
                ],
                "target": {
                    m.member_id: self._names(group.targets.get(m.member_id, {})) for m in members
                },
            }
        if state != self.state:
            self.state = state
            yield {"t": t, **state}

    def _names(self, held: Any) -> list[str]:
        name_of = {facts["id"]: name for name, facts in self.topics.items()}
        return [
            str(p)
            for p in sorted(
                Partition(name_of[topic], number)
                for topic, numbers in held.items()
                for number in numbers
            )
        ]

    def _answer(self, answer: Any) -> Line:
        line: Line = {"error": answer.error.name}
        match answer:
            case JoinGroupResponse():
                line["member"] = answer.member_id
                if answer.error is Error.NONE:
                    line |= {
                        "generation": answer.generation,
                        "protocol": answer.protocol,
                        "leader": answer.leader,
                        "skip": answer.skip_assignment,
                        "members": [m.member_id for m in answer.members],
                    }
            case SyncGroupResponse() if answer.error is Error.NONE:
                line |= {
                    "protocol": answer.protocol,
                    "assignment": [str(p) for p in sorted(answer.assignment or ())],
                }
            case ConsumerGroupHeartbeatResponse() if answer.error is Error.NONE:
                line |= {
                    "member": answer.member_id,
                    "epoch": answer.epoch,
                    "heartbeat_interval_ms": answer.heartbeat_interval_us // MS,
                    "assignment": None
                    if answer.assignment is None
                    else self._names(answer.assignment),
                }
            case LeaveGroupResponse() if answer.members:
                line["error"] = answer.members[0].error.name
        return line


@pytest.fixture(scope="module")
def conversations() -> list[Line]:
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def test_every_conversation_is_identical(conversations: list[Line]) -> None:
    assert len(conversations) == 72
    for conversation in conversations:
        ours = Replay(conversation).lines()
        for at, theirs in enumerate(conversation["steps"]):
            assert next(ours, None) == theirs, f"seed {conversation['seed']}, step {at + 1}"
        assert next(ours, None) is None, f"seed {conversation['seed']} goes on"


def test_the_sample_goes_both_ways_under_every_policy(conversations: list[Line]) -> None:
    turns = {"upgraded": 0, "downgraded": 0}
    for conversation in conversations:
        states = [line for line in conversation["steps"] if "kind" in line]
        for one, other in pairwise(states):
            if one["kind"] == "classic" and other["kind"] == "consumer" and one["state"] != "Empty":
                turns["upgraded"] += 1
            if one["kind"] == "consumer" and other["kind"] == "classic" and other["generation"] > 1:
                turns["downgraded"] += 1
    assert turns["upgraded"] > 30 and turns["downgraded"] > 15, turns
    assert {c["config"]["group.consumer.migration.policy"] for c in conversations} == set(
        either_group.POLICIES
    )
    errors = {line["error"] for c in conversations for line in c["steps"] if "reply" in line}
    assert errors >= {
        "NONE",
        "MEMBER_ID_REQUIRED",
        "REBALANCE_IN_PROGRESS",
        "GROUP_ID_NOT_FOUND",
        "INCONSISTENT_GROUP_PROTOCOL",
        "UNKNOWN_MEMBER_ID",
        "ILLEGAL_GENERATION",
    }
