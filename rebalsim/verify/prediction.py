"""What a trace predicts of a recording: generations, callbacks with partitions, and every gap
between deliveries worth telling.
"""

from __future__ import annotations

from typing import Any

from rebalsim.domain.ids import Partition
from rebalsim.trace.events import (
    CallbackBegan,
    CommitRefused,
    GenerationJoined,
    RecordsDelivered,
)
from rebalsim.trace.trace import Trace

TOLD_MS = 50  # shorter gaps are the ordinary spacing of batches


def prediction_of(trace: Trace) -> dict[str, Any]:
    """The prediction in the judge's form; the trace must hold every batch (wire)."""
    generations = refused = 0
    callbacks: list[dict[str, Any]] = []
    pauses: list[dict[str, Any]] = []
    owner: dict[Partition, str | None] = {}
    last: dict[Partition, int] = {}
    for event in trace.events:
        kind = type(event)
        if kind is RecordsDelivered:
            at = event.at_us
            for partition in event.batch:
                if owner.get(partition) == event.consumer:
                    before = last.get(partition)
                    if before is not None and at - before > TOLD_MS * 1000:
                        pauses.append(
                            {"partition": str(partition), "start": before / 1000, "end": at / 1000}
                        )
                    last[partition] = at
        elif kind is CallbackBegan:
            if event.callback == "assigned":
                for partition in event.partitions:
                    owner[partition] = event.consumer
            else:
                for partition in event.partitions:
                    if owner.get(partition) == event.consumer:
                        owner[partition] = None
            if event.partitions:
                callbacks.append(
                    {
                        "t": event.at_us / 1000,
                        "member": event.consumer,
                        "kind": event.callback,
                        "partitions": sorted(map(str, event.partitions)),
                    }
                )
        elif kind is GenerationJoined:
            generations = max(generations, event.generation)
        elif kind is CommitRefused and trace.header.consumers[event.consumer].commit:
            refused += 1  # a callback that the application itself made
    return {
        "generations": generations,
        "callbacks": callbacks,
        "pauses": pauses,
        "commits_refused": refused,
    }
