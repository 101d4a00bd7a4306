"""What Kafka Connect's phases hang on, and what surprises there."""

from __future__ import annotations

from rebalsim.analysis.values import Pause, Phase, PhaseKind
from rebalsim.domain.instants import say_duration

LONG_US = 3_000_000


def task_hint(phase: Phase, pause: Pause) -> str | None:
    """The hint on a phase that only tasks have; None on any other."""
    if phase.facts.doing == "failed":
        return "Restart it over REST, or let a monitor do it: a rebalance alone does not."
    if phase.kind is PhaseKind.DELAY:
        told = (
            "scheduled.rebalance.max.delay.ms is how long the work of a lost worker waits for it; "
            f"here {say_duration(phase.length_us)} of it. "
        )
        if pause.why == "closed":
            return told + "One that leaves cleanly is waited for like one that dies."
        return told + "A worker that is back sooner waits for its end all the same."
    if phase.kind is PhaseKind.STOP and phase.length_us >= LONG_US:
        return (
            "A task that stops slowly (a sink's while its consumer waits in a rebalance of its "
            "own) holds its worker, and the round with it; task.shutdown.graceful.timeout.ms "
            "bounds that."
        )
    if phase.kind in (PhaseKind.STOP, PhaseKind.START):
        return ""
    return None
