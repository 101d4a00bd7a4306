"""When two lines of a conversation are the same, and where its timers fell together otherwise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

Line = dict[str, Any]


class Astray(Exception):
    """The recording cannot be followed any further; the message says why."""


def is_same(mine: Line, kafka: Line) -> bool:
    """Equal, and not only by Python's leave (which holds 1, 1.0 and true for one)."""
    return mine is kafka or (
        mine == kafka and json.dumps(mine, sort_keys=True) == json.dumps(kafka, sort_keys=True)
    )


def ties_apart(kafkas: Sequence[int], ours: Sequence[int], step: int) -> Line | None:
    """The first instant at which several timers were due in one of the two and not in the other,
    as a difference at this step; None where there is none.
    """
    if kafkas == ours:
        return None
    first = next(
        (i for i, (a, b) in enumerate(zip(kafkas, ours)) if a != b),
        min(len(kafkas), len(ours)),
    )
    return {
        "step": step,
        "t": (*kafkas[first:], *ours[first:])[0],
        "request": None,
        "kafka": f"two or more timers were due at {kafkas[first : first + 3]} ms",
        "rebalsim": f"at {ours[first : first + 3]} ms",
    }
