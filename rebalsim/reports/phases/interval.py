"""The broker may not compute a new target yet."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.doings_told import of_the_kept
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked


def tell(f: Facts, who: str) -> str:
    return "because the broker waits between two assignments"


def hint(asked: Asked) -> str:
    if (kept := of_the_kept(asked)) is not None:
        return kept
    return (
        "group.consumer.assignment.interval.ms on the brokers (1 s by default since 4.3) delays "
        "it; 0 switches it off."
    )


CARD = PhaseCard(
    PhaseKind.INTERVAL,
    Look("i", "▒", "bright_black", "#433d34", "#b3aaa2"),
    title="the broker may not compute a new target yet (consumer protocol)",
    what="Something changed, and group.consumer.assignment.interval.ms (1 s since Kafka 4.3) "
    "has not passed since the last assignment.",
    why="It keeps a burst of changes from being computed one by one. A member that came "
    "inside the interval gets its partitions a "
    "heartbeat later.",
    shows="IntervalWaited with its until_us; AssignmentComputed ends it.",
    change="Set group.consumer.assignment.interval.ms to 0 on the brokers, as before 4.3, if "
    "hand-over time matters more than the "
    "coordinator's load.",
    tell=tell,
    hint=hint,
)
