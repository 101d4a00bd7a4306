"""What a worker that leads answers to a round: the assignor of the protocol that was chosen, asked
with the config as far as this worker has read it, its memory, and its own clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.assignors.connect import eager, incremental
from rebalsim.assignors.connect.memory import Memory
from rebalsim.assignors.connect.round import Answer, ConfigSnapshot, WorkerClaim
from rebalsim.connect.config_state import ConfigState

DEFAULT = "default"  # the eager protocol's name on the wire
# the assignor holds 0 for "no delay is scheduled", so its clock must not begin there
CLOCK_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Leader:
    """Where it stands: the config when it joined and now, the generation and the last one that it
    completed, its clock and its own scheduled.rebalance.max.delay.ms.
    """

    taken: ConfigState
    fresh: ConfigState
    generation: int
    last_completed: int
    now_ms: int
    max_delay_ms: int


def answer_of(
    leader: Leader, protocol: str, claims: Sequence[WorkerClaim], memory: Memory
) -> tuple[Answer, Memory]:
    """The answer, and what is remembered of it."""
    taken, fresh = _snapshot(leader.taken), _snapshot(leader.fresh)
    if protocol == DEFAULT:
        return eager.assign(claims, taken, fresh), memory
    return incremental.assign(
        claims,
        taken,
        memory,
        incremental.Generations(leader.generation, leader.last_completed),
        CLOCK_MS + leader.now_ms,
        leader.max_delay_ms,
        fresh,
    )


def assignor_of(protocol: str) -> str:
    """What the assignor of this protocol is called."""
    return "eager" if protocol == DEFAULT else "incremental"


def _snapshot(state: ConfigState) -> ConfigSnapshot:
    return ConfigSnapshot(state.offset, state.tasks_of)
