"""A coordinator with a clock, a log and clients that say exactly what a test lets them say.
Times are seconds.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

from rebalsim.protocol.classic.join import ANSWERED
from rebalsim.protocol.classic_group import (
    ClassicGroup,
    CoordinatorRules,
    fired,
    load,
    step,
    unload,
    written,
)
from rebalsim.protocol.effects import Append, CancelTimer, Effect, Note, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    LeavingMember,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)
from rebalsim.trace.events import EVENT_CLASSES


def us(seconds: float) -> int:
    return round(seconds * 1_000_000)


def protocols(text: str) -> tuple[tuple[str, str], ...]:
    """`range:t sticky:t` as a list of protocols with their metadata."""
    return tuple(
        (name, metadata) for name, _, metadata in (item.partition(":") for item in text.split())
    )


@dataclass
class Asked:
    """A request and, once it came, its answer."""

    number: int
    response: Any = None
    answered_at: float | None = None

    @property
    def error(self) -> str | None:
        return None if self.response is None else self.response.error.name

    @property
    def id(self) -> str:
        return str(self.response.member_id)


class World:
    """One group on one coordinator. `write` is how long the log takes; None: until `log()` is
    called.
    """

    def __init__(self, write: float | None = 0, **settings: Any) -> None:
        times = (
            "initial_rebalance_delay",
            "new_member_join_timeout",
            "min_session_timeout",
            "max_session_timeout",
        )
        scala = settings.pop("scala", False)
        rules = CoordinatorRules(
            **{
                f"{k}_us" if k in times else k: us(v) if k in times else v
                for k, v in settings.items()
            }
        )
        self.rules = rules.of_scala_coordinator() if scala else rules
        self.write = write
        self.now_us = 0
        self.drawn: dict[str, int] = {}
        self.group = ClassicGroup("g", self.rules, self._draw)
        self.asked: dict[int, Asked] = {}
        self.notes: list[Note] = []
        self.appended: list[Append] = []
        self.due: list[tuple[int, int, str]] = []
        self.armed: dict[str, tuple[int, int]] = {}
        self.sets = 0
        self.log_due: list[tuple[int, int]] = []  # (when, append)
        self.unwritten: list[int] = []
        self.held: list[tuple[int, Reply]] = []  # (append waited for, reply)

    def _draw(self, prefix: str) -> str:
        self.drawn[prefix] = self.drawn.get(prefix, 0) + 1
        return f"{prefix}-{self.drawn[prefix]}"

    # ------------------------------------------------------------------ time

    @property
    def now(self) -> float:
        return self.now_us / 1_000_000

    def at(self, seconds: float) -> World:
        """Let time pass up to this moment, timers of which have fired."""
        to = us(seconds)
        assert to >= self.now_us
        while True:
            timers = [due for due in self.due if self.armed.get(due[2]) == (due[0], due[1])]
            next_timer = min(timers, default=None)
            next_write = min(self.log_due, default=None)
            if (
                next_write is not None
                and next_write[0] <= to
                and (next_timer is None or next_write[0] <= next_timer[0])
            ):
                self.log_due.remove(next_write)
                self.now_us = next_write[0]
                self._written(next_write[1], None)
            elif next_timer is not None and next_timer[0] <= to:
                self.due.remove(next_timer)
                del self.armed[next_timer[2]]
                self.now_us = max(self.now_us, next_timer[0])
                self._carry_out(fired(self.group, next_timer[2], self.now_us))
            else:
                self.now_us = to
                return self

    def timer(self, key: str) -> float | None:
        """When this timer is due."""
        armed = self.armed.get(key)
        return None if armed is None else armed[0] / 1_000_000

    def session(self, member_id: str) -> float | None:
        return self.timer(f"heartbeat-g-{member_id}")

    def log(self, error: Error | None = None) -> None:
        """All that is on its way to the log is committed, or fails."""
        for number in list(self.unwritten):
            self._written(number, error)

    def _written(self, number: int, error: Error | None) -> None:
        self.unwritten.remove(number)
        self._carry_out(written(self.group, number, error, self.now_us))
        for waiting in [held for held in self.held if held[0] not in self.unwritten]:
            self.held.remove(waiting)
            self._answer(waiting[1])

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Reply(waits=True) if self.unwritten:
                    self.held.append((self.unwritten[-1], effect))
                case Reply():
                    self._answer(effect)
                case SetTimer(key, due_us):
                    self.sets += 1
                    self.armed[key] = (due_us, self.sets)
                    heapq.heappush(self.due, (due_us, self.sets, key))
                case CancelTimer(key):
                    self.armed.pop(key, None)
                case Append(number):
                    self.appended.append(effect)
                    self.unwritten.append(number)
                    if self.write == 0:
                        self._written(number, None)
                    elif self.write is not None:
                        self.log_due.append((self.now_us + us(self.write), number))
                case Note(kind, facts):
                    allowed = EVENT_CLASSES[kind].__dataclass_fields__.keys() | {"member_id"}
                    assert facts.keys() <= allowed, f"{kind} has no {facts.keys() - allowed}"
                    self.notes.append(effect)

    def _answer(self, reply: Reply) -> None:
        if reply.request == ANSWERED:
            return
        asked = self.asked[reply.request]
        assert asked.response is None, f"request {reply.request} was answered twice"
        asked.response, asked.answered_at = reply.response, self.now

    # ------------------------------------------------------------------ requests

    def ask(self, request: Any) -> Asked:
        number = len(self.asked) + 1
        self.asked[number] = asked = Asked(number)
        self._carry_out(step(self.group, number, request, self.now_us))
        return asked

    def join(
        self,
        member: str = "",
        client: str = "c",
        instance: str | None = None,
        offers: str = "range:t",
        session: float = 45,
        rebalance: float = 300,
        reason: str | None = None,
        kind: str = "consumer",
        version: int = 9,
    ) -> Asked:
        return self.ask(
            JoinGroupRequest(
                member,
                instance,
                client,
                us(session),
                us(rebalance),
                protocols(offers),
                kind,
                reason,
                version,
            )
        )

    def enter(self, client: str, **more: Any) -> Asked:
        """A dynamic member's both JoinGroups."""
        first = self.join(client=client, **more)
        assert first.error == "MEMBER_ID_REQUIRED"
        return self.join(first.id, client=client, **more)

    def sync(
        self,
        member: str,
        assignments: dict[str, Any] | None = None,
        generation: int | None = None,
        instance: str | None = None,
        protocol: str | None = None,
        kind: str | None = None,
    ) -> Asked:
        generation = self.group.generation if generation is None else generation
        return self.ask(
            SyncGroupRequest(member, instance, generation, kind, protocol, assignments or {})
        )

    def heartbeat(
        self, member: str, generation: int | None = None, instance: str | None = None
    ) -> Asked:
        return self.ask(
            HeartbeatRequest(
                member, instance, self.group.generation if generation is None else generation
            )
        )

    def leave(self, *members: str | tuple[str, str | None]) -> Asked:
        return self.ask(
            LeaveGroupRequest(
                [LeavingMember(m) if isinstance(m, str) else LeavingMember(*m) for m in members]
            )
        )

    def commit(
        self,
        member: str,
        generation: int | None = None,
        instance: str | None = None,
        offsets: dict[str, int] | None = None,
    ) -> Asked:
        generation = self.group.generation if generation is None else generation
        return self.ask(OffsetCommitRequest(member, instance, generation, offsets or {}))

    def fetch(self, *partitions: str) -> Asked:
        return self.ask(OffsetFetchRequest(partitions))

    # ------------------------------------------------------------------ courses of events

    def stable(self, *names: str, **more: Any) -> list[str]:
        """A group of these clients in generation 1 (`i:` before a name makes it static), the
        first one its leader.
        """
        joins = [
            self.join(instance=name[2:], **more)
            if name.startswith("i:")
            else self.enter(name, **more)
            for name in names
        ]
        self.at(self.group_timer_or_now())
        while self.group.state.value == "PreparingRebalance":
            self.at(self.group_timer_or_now())
        ids = [joined.id for joined in joins]
        self.settle()
        return ids

    def group_timer_or_now(self) -> float:
        due = self.timer("join-g")
        return self.now if due is None else due

    def settle(self) -> None:
        """Everybody asks for the assignment, the leader last."""
        leader = self.group.leader_id
        assert leader is not None
        for member_id in self.group.members:
            if member_id != leader:
                self.sync(member_id)
        self.sync(leader, {member_id: f"for {member_id}" for member_id in self.group.members})

    @property
    def state(self) -> str:
        return self.group.state.value

    def told(self, kind: str) -> list[dict[str, Any]]:
        """The facts of the notes of this kind."""
        return [note.facts for note in self.notes if note.kind == kind]

    def move(self) -> None:
        """The group moves to another broker, which has read the log."""
        self._carry_out(unload(self.group, self.now_us))
        assert not self.armed, "a coordinator that is gone keeps no timers"
        self.unwritten.clear()
        self.log_due.clear()
        old = self.group
        self.group, effects = load(
            "g", self.rules, self._draw, old.persisted, old.persisted_offsets, self.now_us
        )
        self._carry_out(effects)
