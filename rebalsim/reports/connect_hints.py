"""What surprises with Kafka Connect, whatever the phase."""

from __future__ import annotations

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Pause
from rebalsim.domain.doing import Doing
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.names import safe
from rebalsim.reports.settings_behind import Asked

_GONE = (PauseStart.KILLED, PauseStart.CLOSED, PauseStart.FATAL)


def hint_of_connect(asked: Asked) -> str:
    """The hint on what only Connect's tasks and sinks go through; empty on anything else."""
    pause, analysis = asked.pause, asked.analysis
    if not analysis.worker_groups:
        return ""
    if asked.doing is Doing.INITIAL_DELAY and pause.group.startswith("connect-"):
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
    if asked.doing is Doing.FAILED:
        return "Restart it over REST, or let a monitor do it: a rebalance alone does not."
    return ""


def _led(pause: Pause, analysis: Analysis) -> bool:
    """Did the worker that is gone lead, and was its work given out without a delay?"""
    if pause.group not in analysis.worker_groups:
        return False
    if any(phase.kind is PhaseKind.DELAY for phase in pause.phases):
        return False
    rounds = analysis.rounds_by_group.get(pause.group, [])
    before = [r for r in rounds if 0 <= r.stable_us <= pause.started_us]
    return bool(before) and before[-1].leader == pause.owner_before
