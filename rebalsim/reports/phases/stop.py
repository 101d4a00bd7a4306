"""Kafka Connect: the task, or all of its worker, is stopped."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked

LONG_US = 3_000_000


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.CLOSING:
        return f"while {who} stopped its tasks and left"
    return f"while {who} stopped it"


def hint(asked: Asked) -> str:
    if asked.phase.length_us < LONG_US:
        return ""
    return (
        "A task that stops slowly (a sink's while its consumer waits in a rebalance of its "
        "own) holds its worker, and the round with it; task.shutdown.graceful.timeout.ms "
        "bounds that."
    )


CARD = PhaseCard(
    PhaseKind.STOP,
    Look("x", "░", "bright_blue", "#334155", "#8eb1c8"),
    title="the task is being stopped (Kafka Connect)",
    what="The worker asks the task to stop and waits for it: its poll(), its last offsets, "
    "its stop(). A worker that is shut down stops all of them, then leaves the group.",
    why="While it waits the worker does nothing else, and a round waits for the worker: one "
    "slow task holds up all that move, and under eager all there are. A sink's task whose "
    "consumer waits in a rebalance of its own stops only when that is over.",
    shows="CallbackBegan (revoked) and TaskStopping of each; TaskCancelled where the patience "
    "was over, from which on two copies may run.",
    change="Let tasks stop quickly. task.shutdown.graceful.timeout.ms bounds the wait.",
    tell=tell,
    hint=hint,
    is_of_tasks=True,
)
