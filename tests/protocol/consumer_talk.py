"""A tiny language for consumer groups: `want(m1="a0 a1")` says what the assignor will answer,
`join`, `beat` and `leave` what members send, `at(5_000)` lets time pass (in ms) and timers fire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rebalsim.domain.server_target import ServerMember, Targets
from rebalsim.protocol import consumer_group as rules
from rebalsim.protocol.consumer.group import ConsumerGroup, ConsumerGroupSettings
from rebalsim.protocol.consumer.member import Member
from rebalsim.protocol.consumer.topics import Topic, TopicsImage
from rebalsim.protocol.consumer_messages import (
    UNCHANGED,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from rebalsim.protocol.effects import Append, CancelTimer, Effect, Note, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error

MS = 1_000


def topic_id(name: str) -> str:
    return name.ljust(22, "A")


def held(text: str) -> dict[str, tuple[int, ...]]:
    """`a0 a1 b3` → by topic id. Topics have names of one letter here."""
    found: dict[str, list[int]] = {}
    for word in text.split():
        found.setdefault(topic_id(word[0]), []).append(int(word[1:]))
    return {topic: tuple(numbers) for topic, numbers in found.items()}


def written(of: Mapping[str, Any] | None) -> str | None:
    """The other way round, sorted."""
    return (
        None
        if of is None
        else " ".join(
            sorted(f"{topic.rstrip('A')}{p}" for topic, numbers in of.items() for p in numbers)
        )
    )


class Talk:
    """One group, its clock and its timers, and an assignor that does what the test says."""

    def __init__(self, topics: str = "a4", **settings: Any) -> None:
        self.wanted: dict[str, dict[str, tuple[int, ...]]] = {}
        self.asked: list[tuple[str, list[ServerMember], bool]] = []
        self.images = 0
        settings.setdefault(
            "assignors", {name: self._assignor(name) for name in ("uniform", "range")}
        )
        settings.setdefault("assignment_interval_us", 0)
        self.group = ConsumerGroup("g", ConsumerGroupSettings(**settings), self._image(topics))
        self.now_us = 0
        self.number = 0
        self.timers: dict[str, int] = {}
        self.notes: list[Note] = []
        self.effects: list[Effect] = []

    def _assignor(self, name: str) -> Any:
        def assign(
            topics: dict[str, int], members: Sequence[ServerMember], homogeneous: bool | None = None
        ) -> Targets:
            self.asked.append((name, list(members), bool(homogeneous)))
            return {m.member_id: self.wanted.get(m.member_id, {}) for m in members}

        return assign

    def _image(self, topics: str) -> TopicsImage:
        self.images += 1
        return TopicsImage(
            {word[0]: Topic(topic_id(word[0]), int(word[1:])) for word in topics.split()},
            self.images,
        )

    def want(self, **targets: str) -> None:
        """From now on the assignor answers this (members not named: nothing)."""
        self.wanted = {member: held(text) for member, text in targets.items()}

    def at(self, now_ms: int) -> list[Note]:
        """Let time pass to `now_ms`, timers of that ms included; returns what was noted on
        the way.
        """
        assert now_ms * MS >= self.now_us, "time goes on"
        notes: list[Note] = []
        while self.timers:
            key = min(self.timers, key=lambda k: self.timers[k])
            if self.timers[key] > now_ms * MS:
                break
            due = self.timers.pop(key)
            notes += self._do(rules.timer_fired(self.group, key, due))
        self.now_us = now_ms * MS
        return notes

    def topics(self, topics: str) -> None:
        """The cluster has other topics from now on."""
        self._do(rules.metadata_changed(self.group, self._image(topics), self.now_us))

    def _do(self, effects: list[Effect]) -> list[Note]:
        self.effects = effects
        for effect in effects:
            if isinstance(effect, SetTimer):
                self.timers[effect.key] = effect.due_us
            elif isinstance(effect, CancelTimer):
                self.timers.pop(effect.key, None)
        notes = [effect for effect in effects if isinstance(effect, Note)]
        self.notes += notes
        return notes

    def send(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
        self.number += 1
        self._do(rules.heartbeat(self.group, self.number, request, self.now_us))
        replies = [effect for effect in self.effects if isinstance(effect, Reply)]
        assert [reply.request for reply in replies] == [self.number], (
            "every heartbeat is answered at once, and once"
        )
        response: ConsumerGroupHeartbeatResponse = replies[0].response
        return response

    def join(
        self, member: str, topics: str | None = "a", instance: str | None = None, **fields: Any
    ) -> ConsumerGroupHeartbeatResponse:
        fields = {"rebalance_timeout_us": 60_000 * MS, "owned": {}, **fields}
        return self.send(
            ConsumerGroupHeartbeatRequest(
                member, 0, instance, topics=None if topics is None else topics.split(), **fields
            )
        )

    def beat(
        self,
        member: str,
        owned: str | None = None,
        epoch: int | None = None,
        instance: str | None = None,
        topics: str | None = None,
        **fields: Any,
    ) -> ConsumerGroupHeartbeatResponse:
        """A heartbeat with the member's own epoch unless another one is given."""
        return self.send(
            ConsumerGroupHeartbeatRequest(
                member,
                self.member(member).epoch if epoch is None else epoch,
                instance,
                topics=None if topics is None else topics.split(),
                owned=None if owned is None else held(owned),
                **fields,
            )
        )

    def full(self, member: str, owned: str, topics: str = "a") -> ConsumerGroupHeartbeatResponse:
        return self.beat(member, owned, topics=topics, rebalance_timeout_us=60_000 * MS)

    def leave(
        self, member: str, instance: str | None = None, epoch: int = -1
    ) -> ConsumerGroupHeartbeatResponse:
        return self.send(ConsumerGroupHeartbeatRequest(member, epoch, instance))

    def member(self, member: str) -> Member:
        found: Member = self.group.members[member]
        return found

    def where(self, member: str) -> str:
        """`STABLE 2: a0 a1`, with `-a3` for what is pending revocation."""
        m = self.member(member)
        pending = " ".join(f"-{word}" for word in (written(m.pending) or "").split())
        return f"{m.state.value} {m.epoch}: {written(m.assigned)} {pending}".strip()

    @property
    def now(self) -> int:
        """In ms."""
        return self.now_us // MS

    @property
    def state(self) -> str:
        return self.group.state.value

    @property
    def epochs(self) -> tuple[int, int]:
        return self.group.epoch, self.group.assignment_epoch

    @property
    def wrote(self) -> bool:
        """Did the last step write to the log?"""
        return any(isinstance(effect, Append) for effect in self.effects)

    def told(self, kind: str) -> list[dict[str, Any]]:
        """The facts of all notes of a kind so far."""
        return [note.facts for note in self.notes if note.kind == kind]


__all__ = ["MS", "UNCHANGED", "Error", "Talk", "held", "topic_id", "written"]
