"""One Streams application, one task assignor, and a chain of changes: who has which task after each,
which moves were warmed up, and which were cold.

There is no time here: a round that asks for another at once gets it, and by the time of a probing
rebalance every standby, warm-up and restoring task has caught up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rebalsim.assignors.claim import AssignmentFailed
from rebalsim.assignors.streams import leader, server_sticky
from rebalsim.assignors.streams.process import ThreadClaim
from rebalsim.assignors.streams.settings import TaskAssignorSettings
from rebalsim.assignors.streams.tasks import (
    LATEST_OFFSET,
    Subtopology,
    TaskId,
    Topology,
    topology_of,
)
from rebalsim.assignors.what_if import Change
from rebalsim.domain.java_hash import TimelineHashMap

BROKERS = "streams-broker-sticky"
NAMES = (*leader.TASK_ASSIGNORS, BROKERS)
MOST_ROUNDS = 500


@dataclass(frozen=True, slots=True)
class Application:
    """What the assignor needs to know: a sub-topology a topic, with one store or none."""

    stateless: frozenset[str]
    records: int  # in each task's changelog
    threads: int
    settings: TaskAssignorSettings

    def topology(self, topics: Mapping[str, int]) -> Topology:
        return topology_of(
            [
                Subtopology((name,), () if name in self.stateless else (f"app-{name}-changelog",))
                for name in topics
            ],
            topics,
        )


@dataclass(frozen=True, slots=True)
class TaskMove:
    """An active task that changed instance; `warm` if its state was there when it came."""

    task: TaskId
    source: str
    target: str
    stateful: bool
    warm: bool


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The application after a change, when nobody asks for another rebalance any more."""

    change: Change
    active: dict[str, list[TaskId]]
    standby: dict[str, list[TaskId]]
    moves: tuple[TaskMove, ...]
    rounds: int
    probing: int  # of the rounds, how many waited out the probing interval
    warmups: tuple[TaskId, ...]  # placed for a while, so that a task could move warm


def play(
    assignor: str,
    application: Application,
    topics: Mapping[str, int],
    members: Sequence[str],
    changes: Sequence[Change],
) -> list[TaskOutcome]:
    """The start and every change in turn; members are instances."""
    counts = dict(topics)
    group: _ClassicGroup | _BrokersGroup
    group = (_BrokersGroup if assignor == BROKERS else _ClassicGroup)(assignor, application)
    outcomes = []
    for change in (Change("start", joined=tuple(members)), *changes):
        counts.update(change.grown)
        outcomes.append(group.apply(change, counts))
    return outcomes


def process_id(name: str) -> str:
    """The id of an instance: drawn in earnest, here derived from its name unless it is one."""
    if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name):
        return name
    drawn = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
    return "-".join((drawn[:8], drawn[8:12], drawn[12:16], drawn[16:20], drawn[20:]))


@dataclass(slots=True)
class _Instance:
    name: str
    threads: list[str]
    owned: dict[str, leader.ThreadShare] = field(default_factory=dict)  # thread → its last share
    ready: dict[TaskId, bool] = field(default_factory=dict)  # state on its disk: caught up or not


class _ClassicGroup:
    def __init__(self, assignor: str, application: Application) -> None:
        self._assignor, self._application = assignor, application
        self._instances: dict[str, _Instance] = {}
        self._topology = application.topology({})

    def apply(self, change: Change, counts: Mapping[str, int]) -> TaskOutcome:
        before = self._active()
        self._topology = self._application.topology(counts)
        for name in change.left:
            del self._instances[name]
        for name in change.joined:
            threads = [f"{name}-StreamThread-{n + 1}" for n in range(self._application.threads)]
            self._instances[name] = _Instance(name, threads)
        moves: dict[TaskId, TaskMove] = {}
        warmups: dict[TaskId, None] = {}
        probing = 0
        for rounds in range(1, MOST_ROUNDS + 1):
            answer = self._round()
            warmups.update(dict.fromkeys(self._more_than_standbys(answer)))
            self._take(answer, before, moves)
            if answer.is_stable:
                return TaskOutcome(
                    change,
                    self._active(),
                    self._standby(),
                    tuple(moves[task] for task in sorted(moves)),
                    rounds,
                    probing,
                    tuple(sorted(warmups)),
                )
            asks = [share.next_rebalance_ms for share in answer.shares.values()]
            if leader.AT_ONCE not in asks:
                probing += 1
                self._catch_up()
        raise AssignmentFailed(
            f"{self._assignor} still asks for rebalances after {MOST_ROUNDS} in a row"
        )

    def _round(self) -> leader.LeaderAnswer:
        first = next(iter(self._instances))
        return leader.assign(
            self._assignor,
            self._topology,
            [claim for each in self._instances.values() for claim in self._claims(each)],
            leader=process_id(first),
            now_ms=1,
            settings=self._application.settings,
            end_offset_sums=dict.fromkeys(self._topology.changelogs, self._application.records),
        )

    def _claims(self, instance: _Instance) -> list[ThreadClaim]:
        """Each thread tells of its own tasks; the first also of what else lies on the disk."""
        told: set[TaskId] = set()
        claims = []
        for thread in instance.threads:
            share = instance.owned.get(thread)
            sums: dict[TaskId, int] = {}
            for task in (*share.active, *share.standby) if share else ():
                if task in instance.ready:
                    running = instance.ready[task] and task in share.active  # type: ignore[union-attr]
                    sums[task] = LATEST_OFFSET if running else self._offset(instance, task)
            told.update(sums)
            owned = share.partitions if share else ()
            claims.append(ThreadClaim(thread, process_id(instance.name), owned, sums))
        rest = {task: self._offset(instance, task) for task in instance.ready if task not in told}
        claims[0] = replace(claims[0], offset_sums={**claims[0].offset_sums, **rest})
        return claims

    def _offset(self, instance: _Instance, task: TaskId) -> int:
        return self._application.records if instance.ready[task] else 0

    def _take(
        self,
        answer: leader.LeaderAnswer,
        before: Mapping[str, list[TaskId]],
        moves: dict[TaskId, TaskMove],
    ) -> None:
        source = {task: name for name, tasks in before.items() for task in tasks}
        for instance in self._instances.values():
            for thread in instance.threads:
                share = instance.owned[thread] = answer.shares[thread]
                for task in share.active:
                    stateful = task in self._topology.changelogs
                    warm = instance.ready.get(task, False) or not stateful
                    was, now = source.get(task, instance.name), instance.name
                    if was != now and task not in moves:
                        moves[task] = TaskMove(task, was, now, stateful, warm)
                for task in (*share.active, *share.standby):
                    if task in self._topology.changelogs:
                        instance.ready.setdefault(task, False)
        if not before:
            self._catch_up()

    def _catch_up(self) -> None:
        for instance in self._instances.values():
            mine = {
                task
                for share in instance.owned.values()
                for task in (*share.active, *share.standby)
            }
            for task in instance.ready:
                instance.ready[task] = instance.ready[task] or task in mine

    def _more_than_standbys(self, answer: leader.LeaderAnswer) -> list[TaskId]:
        copies: dict[TaskId, int] = {}
        for _, standby in answer.decided.values():
            for task in standby:
                copies[task] = copies.get(task, 0) + 1
        wanted = self._application.settings.num_standby_replicas
        return [task for task, count in copies.items() if count > wanted]

    def _active(self) -> dict[str, list[TaskId]]:
        return self._held("active")

    def _standby(self) -> dict[str, list[TaskId]]:
        return self._held("standby")

    def _held(self, role: str) -> dict[str, list[TaskId]]:
        return {
            name: sorted(task for share in instance.owned.values() for task in getattr(share, role))
            for name, instance in self._instances.items()
        }


class _BrokersGroup:
    """A group of the streams protocol: a new target from the old one. Every move is cold, unless
    the task's new instance happens to have its standby.
    """

    def __init__(self, assignor: str, application: Application) -> None:
        self._application = application
        self._targets: TimelineHashMap[str, server_sticky.StreamsMember] = TimelineHashMap()
        self._names: dict[str, str] = {}  # member → instance, in the order of joining

    def apply(self, change: Change, counts: Mapping[str, int]) -> TaskOutcome:
        topology = self._application.topology(counts)
        before, stood_by = self._held("active"), self._held("standby")
        for member in [m for m, name in self._names.items() if name in change.left]:
            self._targets.remove(member)
            del self._names[member]
        for name in change.joined:
            for number in range(self._application.threads):
                member = f"{name}-StreamThread-{number + 1}"
                self._names[member] = name
                self._targets.put(member, server_sticky.StreamsMember(member, process_id(name)))
        self._retarget(counts)
        return TaskOutcome(
            change,
            self._held("active"),
            self._held("standby"),
            tuple(_moves(topology, before, stood_by, self._held("active"))),
            1,
            0,
            (),
        )

    def _retarget(self, counts: Mapping[str, int]) -> None:
        tasks = dict(enumerate(counts.values()))
        stateful = {
            number: name not in self._application.stateless for number, name in enumerate(counts)
        }
        target = server_sticky.assign(
            dict(sorted(tasks.items(), key=lambda each: str(each[0]))),
            stateful,
            list(self._targets.values()),
            self._application.settings.num_standby_replicas,
        )
        for member, new in target.items():
            self._targets[member] = replace(
                self._targets[member],
                active=tuple(sorted(new.active)),
                standby=tuple(sorted(new.standby)),
            )

    def _held(self, role: str) -> dict[str, list[TaskId]]:
        held: dict[str, list[TaskId]] = {name: [] for name in self._names.values()}
        for member, name in self._names.items():
            held[name] = sorted([*held[name], *getattr(self._targets[member], role)])
        return held


def _moves(
    topology: Topology,
    before: Mapping[str, list[TaskId]],
    stood_by: Mapping[str, list[TaskId]],
    after: Mapping[str, list[TaskId]],
) -> list[TaskMove]:
    source = {task: name for name, tasks in before.items() for task in tasks}
    moves = []
    for name, tasks in after.items():
        for task in tasks:
            if source.get(task, name) != name:
                stateful = task in topology.changelogs
                warm = not stateful or task in stood_by.get(name, ())
                moves.append(TaskMove(task, source[task], name, stateful, warm))
    return sorted(moves, key=lambda move: move.task)
