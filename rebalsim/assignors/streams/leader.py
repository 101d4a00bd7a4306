"""One assignment as the leader of a classic Streams group makes it (`StreamsPartitionAssignor`):
claims of all threads in, every thread's tasks out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rebalsim.assignors.streams import high_availability, sticky
from rebalsim.assignors.streams.process import Group, Process, ThreadClaim, processes_of
from rebalsim.assignors.streams.settings import TaskAssignorSettings
from rebalsim.assignors.streams.tasks import LATEST_OFFSET, TaskId, Topology
from rebalsim.assignors.streams.threads import ThreadTasks, over_threads
from rebalsim.assignors.streams.versions import Spoken, as_read, common, from_the_future
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import hash_ordered

AT_ONCE = 0
TASK_ASSIGNORS: dict[str, Callable[[Group], bool]] = {
    "streams-ha": high_availability.assign,
    "streams-sticky": sticky.assign,
    "streams-legacy-sticky": sticky.assign_legacy,
}


@dataclass(frozen=True, slots=True)
class ThreadShare:
    """One thread's part: its partitions with the task that reads each, its standbys, and when it
    shall ask for another rebalance (0 at once, None never). `spoken` is what it is written in.
    """

    partitions: tuple[Partition, ...]
    tasks: tuple[TaskId, ...]
    standby: tuple[TaskId, ...]
    next_rebalance_ms: int | None
    spoken: Spoken = Spoken()
    error: str = ""  # the exception with which it ends the thread that reads it

    @property
    def active(self) -> list[TaskId]:
        return list(dict.fromkeys(self.tasks))


@dataclass(frozen=True, slots=True)
class LeaderAnswer:
    """What was decided for processes, before threads and revocations; and every thread's share."""

    decided: Mapping[str, tuple[frozenset[TaskId], frozenset[TaskId]]]
    probing: bool
    fell_back: bool
    shares: Mapping[str, ThreadShare]

    @property
    def is_stable(self) -> bool:
        """No thread is told to ask for another rebalance."""
        return all(share.next_rebalance_ms is None for share in self.shares.values())


def assign(
    assignor: str,
    topology: Topology,
    claims: Sequence[ThreadClaim],
    *,
    leader: str,
    now_ms: int,
    settings: TaskAssignorSettings,
    end_offset_sums: Mapping[TaskId, int] | None,
    replica_racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None,
) -> LeaderAnswer:
    """Claims in the order of the leader's JoinGroup answer; `leader` is a process, whose clock
    says `now_ms`. `end_offset_sums` is None where the changelogs' ends could not be had.
    """
    if assignor not in TASK_ASSIGNORS:
        known = ", ".join(TASK_ASSIGNORS)
        raise InputError(f"There is no task assignor '{assignor}' — write one of {known}")
    by_id = {claim.member_id: claim for claim in claims}
    ordered = [by_id[member] for member in hash_ordered(by_id)]
    processes = processes_of(ordered, topology, end_offset_sums)
    group = Group(processes, topology, settings, replica_racks)
    fell_back = end_offset_sums is None and assignor == "streams-ha"
    deal = sticky.assign_as_before if fell_back else TASK_ASSIGNORS[assignor]
    probing = deal(group)
    decided = {
        process.name: (frozenset(process.active), frozenset(process.standby))
        for process in processes.values()
    }
    deadline = now_ms + settings.probing_rebalance_interval_ms if probing else None
    owned = {p for claim in claims for p in claim.owned}
    shares: dict[str, ThreadShare] = {}
    for process in processes.values():
        shares.update(
            _shares(process, topology, owned, deadline if process.name == leader else None)
        )
    return LeaderAnswer(decided, probing, fell_back, shares)


def assign_across_versions(
    assigned: Callable[[Sequence[ThreadClaim]], LeaderAnswer],
    topology: Topology,
    claims: Sequence[ThreadClaim],
    spoken: Mapping[str, Spoken],
    leader: str,
) -> LeaderAnswer:
    """What a leader of any version answers: where it cannot read a subscription it probes, and
    else its assignor decides (`assigned`) from what it reads. `leader` is a member.
    """
    future = from_the_future(spoken, spoken[leader])
    if future:
        return _probing_versions(topology, claims, frozenset(future), spoken[leader])
    answer = assigned([as_read(claim, spoken[claim.member_id]) for claim in claims])
    written = common(spoken)
    if written == Spoken():
        return answer
    shares = {who: replace(share, spoken=written) for who, share in answer.shares.items()}
    return replace(answer, shares=shares)


def _probing_versions(
    topology: Topology, claims: Sequence[ThreadClaim], future: frozenset[str], leader: Spoken
) -> LeaderAnswer:
    """Everybody keeps what it had; whoever could not be read gets nothing but the version to use."""
    written = Spoken(leader.latest, leader.latest)
    shares = {}
    for claim in claims:
        sums = {} if claim.member_id in future else claim.offset_sums
        active = sorted({task for task, offset in sums.items() if offset == LATEST_OFFSET})
        standby = tuple(sorted(task for task in sums if task not in active))
        inputs = sorted((p, task) for task in active for p in topology.inputs[task])
        shares[claim.member_id] = ThreadShare(
            tuple(p for p, _ in inputs), tuple(task for _, task in inputs), standby, None, written
        )
    return LeaderAnswer({}, False, False, shares)


def _shares(
    process: Process, topology: Topology, owned: set[Partition], deadline: int | None
) -> dict[str, ThreadShare]:
    """The threads' shares, without what another member must give up first. Whoever waits for such
    a task looks again at once; a deadline for probing is told to the first thread, and dropped if
    one before it, or itself, looks again at once.
    """
    shares: dict[str, ThreadShare] = {}
    for thread, tasks in over_threads(process, topology.changelogs).items():
        kept, held_back = _without_owned(process, thread, tasks, topology, owned)
        standby = tasks.standby + [
            task
            for task in held_back
            if task in process.had_standby and task in topology.changelogs
        ]
        ask = AT_ONCE if held_back else deadline
        deadline = None
        shares[thread] = ThreadShare(
            tuple(p for p, _ in kept), tuple(task for _, task in kept), tuple(standby), ask
        )
    return shares


def _without_owned(
    process: Process,
    thread: str,
    tasks: ThreadTasks,
    topology: Topology,
    owned: set[Partition],
) -> tuple[list[tuple[Partition, TaskId]], list[TaskId]]:
    kept: list[tuple[Partition, TaskId]] = []
    held_back = []
    for task in tasks.active:
        inputs = topology.inputs[task]
        if any(p in owned and process.owners.get(p) != thread for p in inputs):
            held_back.append(task)
        else:
            kept += [(p, task) for p in inputs]
    return sorted(kept), sorted(held_back)
