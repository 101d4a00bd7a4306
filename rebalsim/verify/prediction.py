"""What a trace predicts of a recording: generations, callbacks with partitions, and every gap
between deliveries worth telling.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rebalsim.domain.callback import Callback
from rebalsim.domain.ids import Partition
from rebalsim.trace.events import (
    CallbackBegan,
    CommitRefused,
    GenerationJoined,
    RecordsDelivered,
)
from rebalsim.trace.trace import Trace

TOLD_MS = 50  # shorter gaps are the ordinary spacing of batches


def _ended_by(
    at_us: int, partitions: list[Partition], last: dict[Partition, int]
) -> Iterator[dict[str, Any]]:
    """The pauses that deliveries at this instant end."""
    for partition in partitions:
        before = last.get(partition)
        if before is not None and at_us - before > TOLD_MS * 1000:
            yield {"partition": str(partition), "start": before / 1000, "end": at_us / 1000}


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
            mine = [p for p in event.batch if owner.get(p) == event.consumer]
            pauses += _ended_by(event.at_us, mine, last)
            last.update(dict.fromkeys(mine, event.at_us))
        elif kind is CallbackBegan:
            if event.callback == Callback.ASSIGNED:
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
