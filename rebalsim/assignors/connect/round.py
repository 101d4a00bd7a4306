"""What the leader of a Connect cluster is asked in a round, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rebalsim.assignors.connect.work import NO_WORK, Work


@dataclass(frozen=True, slots=True)
class WorkerClaim:
    """What a worker says when it joins: how far it has read the config topic, and what it runs."""

    worker_id: str  # its member id
    offset: int = -1
    work: Work = NO_WORK  # in the order of the wire; nothing under eager


@dataclass(frozen=True, slots=True)
class ConfigSnapshot:
    """The leader's view of the config topic: up to which offset, and each connector's number of
    tasks.
    """

    offset: int
    tasks_of: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WorkerShare:
    """What the answer says to one worker."""

    given: Work = NO_WORK  # only what is new, unless the round is eager
    revoked: Work = NO_WORK


@dataclass(frozen=True, slots=True)
class Answer:
    """What the leader answers to everybody. `offset` is the config that it is meant for."""

    offset: int
    shares: Mapping[str, WorkerShare] = field(default_factory=dict)
    delay_ms: int = 0
    is_config_mismatch: bool = False


def config_to_assign(
    claims: Sequence[WorkerClaim], taken: ConfigSnapshot, fresh: ConfigSnapshot
) -> ConfigSnapshot | None:
    """The config that the leader assigns by: the snapshot taken when it joined, or a fresh one
    where somebody has read further. None if even that lags behind: nobody is given anything then.
    """
    newest = max(claim.offset for claim in claims)
    if taken.offset >= newest:
        return ConfigSnapshot(newest, taken.tasks_of)
    return fresh if fresh.offset >= newest else None


def mismatch(claims: Sequence[WorkerClaim]) -> Answer:
    """Nobody gets anything: the leader has not read what others have."""
    return Answer(
        max(claim.offset for claim in claims),
        {claim.worker_id: WorkerShare() for claim in claims},
        is_config_mismatch=True,
    )
