"""Kafka Connect: lost work waits for its worker to come back, on purpose."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked
from rebalsim.reports.waits_told import until
from rebalsim.words.times import say_duration


def tell(f: Facts, who: str) -> str:
    told = f"waiting out scheduled.rebalance.max.delay.ms for {who}, on purpose"
    if f.left_us <= 0:
        return told + until(f, "it was over")
    left = say_duration(f.left_us)
    if f.until_us < 0:
        return f"{told} ({left} of it left)"
    return f"{told}{until(f, 'it was cut short')} ({left} of it left)"


def hint(asked: Asked) -> str:
    told = (
        "scheduled.rebalance.max.delay.ms is how long the work of a lost worker waits for it; "
        f"here {say_duration(asked.phase.length_us)} of it. "
    )
    if asked.pause.why is PauseStart.CLOSED:
        return told + "One that leaves cleanly is waited for like one that dies."
    return told + "A worker that is back sooner waits for its end all the same."


CARD = PhaseCard(
    PhaseKind.DELAY,
    Look("W", "▒", "bright_green", "#526d0a", "#7ca651"),
    title="waiting for the lost worker to come back (Kafka Connect)",
    what="A worker is gone, and its connectors and tasks are given to nobody for "
    "scheduled.rebalance.max.delay.ms (5 minutes by default), on purpose.",
    why="A worker that is only restarted would else have its work moved away and back. The "
    "delay begins with the first loss and never grows; a worker that comes back without "
    "its work waits for the end like all others, one that left cleanly is waited for like "
    "one that died, and only one that comes back still running its tasks ends it. Where "
    "the worker that leads the cluster is the one that goes, there is no delay at all: its "
    "successor remembers nothing.",
    shows="WorkAssigned with a delay_us; the next round without one ends it.",
    change="Set scheduled.rebalance.max.delay.ms a little above what a restart takes: longer, "
    "and a lost worker's tasks stand still for it; shorter, and every restart moves "
    "tasks. The leader's value counts.",
    tell=tell,
    hint=hint,
    is_of_tasks=True,
)
