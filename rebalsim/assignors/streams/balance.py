"""Evening out: tasks go from fuller processes to emptier ones while that lessens the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from rebalsim.assignors.streams.process import Process

Role = Literal["active", "standby"]


def balance(
    processes: Sequence[Process],
    role: Role,
    may_move: Callable[[Process, Process], bool] = lambda source, target: True,
) -> None:
    """Passes over all pairs in order, until one changes nothing."""
    changed = True
    while changed:
        changed = False
        for source in processes:
            for target in processes:
                if source is not target and _should_move(source, target):
                    changed |= _pour(source, target, role, may_move)


def _pour(
    source: Process, target: Process, role: Role, may_move: Callable[[Process, Process], bool]
) -> bool:
    mine: set[object] = getattr(source, role)
    theirs = getattr(target, role)
    moved = False
    for task in sorted(getattr(source, role)):
        if not _should_move(source, target):
            break
        if not target.has(task) and may_move(source, target):
            mine.discard(task)
            theirs.add(task)
            moved = True
    return moved


def _should_move(source: Process, target: Process) -> bool:
    skew = source.load - target.load
    if skew <= 0:
        return False
    after = (source.count - 1.0) / source.capacity - (target.count + 1.0) / target.capacity
    return 0 <= after < skew
