"""Kafka Connect: the task is started."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.phases.card import Look, PhaseCard


def tell(f: Facts, who: str) -> str:
    return f"until {who} had started it"


CARD = PhaseCard(
    PhaseKind.START,
    Look("s", "░", "green", "#026f4e", "#34d399"),
    title="the task is being started (Kafka Connect)",
    what="The task was given to this worker, which makes its clients and calls its start().",
    why="Eight at a time are launched; each then starts on a thread of its own.",
    shows="CallbackBegan (assigned), TaskStarting, RecordsDelivered at its first poll.",
    change="What a task does in start() is the connector's matter.",
    tell=tell,
    of_next_owners=lambda f: "until their workers had started them",
    is_of_tasks=True,
)
