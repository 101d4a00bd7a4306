"""What Kafka Connect's phases hang on, and what surprises there."""

from __future__ import annotations

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Pause, Phase, PhaseKind
from rebalsim.reports.names import safe
from rebalsim.words.times import say_duration

LONG_US = 3_000_000
_GONE = ("killed", "closed", "fatal")


def task_hint(phase: Phase, pause: Pause, analysis: Analysis) -> str | None:
    """The hint on what only Connect's tasks and sinks go through; None on anything else."""
    if not analysis.worker_groups:
        return None
    if phase.facts.doing == "initial-delay" and pause.group.startswith("connect-"):
        return (
            "All tasks of the sink had stopped, so that its group was empty and begins anew: its "
            "members wait for the brokers' group.initial.rebalance.delay.ms, and once more for "
            "whoever joins meanwhile."
        )
    if pause.why in _GONE and _led(pause, analysis):
        return (
            f"{safe(pause.owner_before)} led the cluster. Its successor remembers nothing of what it "
            "ran, so that nobody waits for scheduled.rebalance.max.delay.ms; any other worker's "
            "tasks would."
        )
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


def _led(pause: Pause, analysis: Analysis) -> bool:
    """Did the worker that is gone lead, and was its work given out without a delay?"""
    if pause.group not in analysis.worker_groups:
        return False
    if any(phase.kind is PhaseKind.DELAY for phase in pause.phases):
        return False
    rounds = analysis.rounds_by_group.get(pause.group, [])
    before = [r for r in rounds if 0 <= r.stable_us <= pause.started_us]
    return bool(before) and before[-1].leader == pause.owner_before
