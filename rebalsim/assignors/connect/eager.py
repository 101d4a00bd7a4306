"""Connect's eager assignor: everything anew at each round, dealt out in turns, nothing remembered."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from rebalsim.assignors.connect.round import (
    Answer,
    ConfigSnapshot,
    WorkerClaim,
    WorkerShare,
    config_to_assign,
    mismatch,
)
from rebalsim.assignors.connect.work import Task, Work, configured


def assign(
    claims: Sequence[WorkerClaim], taken: ConfigSnapshot, fresh: ConfigSnapshot | None = None
) -> Answer:
    """All connectors by name, then all tasks, one by one around the workers sorted by id; the
    tasks go on where the connectors ended.
    """
    config = config_to_assign(claims, taken, fresh or taken)
    if config is None:
        return mismatch(claims)
    workers = sorted(claim.worker_id for claim in claims)
    turn = cycle(workers)
    connectors: dict[str, list[str]] = {worker: [] for worker in workers}
    tasks: dict[str, list[Task]] = {worker: [] for worker in workers}
    work = configured(config.tasks_of)
    for connector in work.connectors:
        connectors[next(turn)].append(connector)
    for task in work.tasks:
        tasks[next(turn)].append(task)
    return Answer(
        config.offset,
        {w: WorkerShare(Work(tuple(connectors[w]), tuple(tasks[w]))) for w in workers},
    )
