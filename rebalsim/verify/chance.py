"""What chance allows: how well the replay would do on a recording of a group that went by its own
rules.

Where a few milliseconds decide, a real group goes one way or the other, and no replay can know
which. A jittered replay is such a group: the same drive, the same rules, its races drawn at the
odds that were measured. Taken as if it had been recorded, it says how much of a recording a
replay without any wrong rule finds. A share of agreement with real recordings is to be read
beside this one, not beside 100 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebalsim.domain.callback import Callback
from rebalsim.trace.events import CallbackBegan, GenerationJoined, RecordsDelivered
from rebalsim.trace.trace import Trace
from rebalsim.verify.judge import Judgement, total

_WAITED = 1 << 30  # the records of a replay always wait for the group, never for their producer


def as_recorded(trace: Trace, document: dict[str, Any]) -> dict[str, Any]:
    """A replay (with every batch: wire) in the form of a recording of the same script."""
    events: list[dict[str, Any]] = []
    for event in trace.events:
        kind = type(event)
        if kind is RecordsDelivered:
            events.append(
                {
                    "ev": "records",
                    "t": event.at_us / 1000,
                    "member": event.consumer,
                    "n": {str(partition): [0, 0, _WAITED] for partition in event.batch},
                }
            )
        elif kind is CallbackBegan:
            told = {
                "t": event.at_us / 1000,
                "member": event.consumer,
                "partitions": sorted(map(str, event.partitions)),
            }
            events.append({"ev": f"{event.callback}_begin", **told})
            if event.callback == Callback.ASSIGNED:
                events.append({"ev": "assigned_end", **told})
        elif kind is GenerationJoined:
            events.append(
                {
                    "ev": "joined",
                    "t": event.at_us / 1000,
                    "member": event.consumer,
                    "generation": event.generation,
                }
            )
    return {**document, "events": events}


def allowed(judged: Sequence[Sequence[Judgement]]) -> dict[str, Any]:
    """For each recording the replay held against each seed's: what comes of all recordings
    together, over the seeds.
    """
    totals = [total(of_seed) for of_seed in zip(*judged)]

    def spread(values: list[float]) -> list[float]:
        return [round(sum(values) / len(values), 1), min(values), max(values)]

    def mean(key: str) -> list[float]:
        return [round(sum(figures[key][i] for figures in totals) / len(totals), 1) for i in (0, 1)]

    return {
        "seeds": len(totals),
        "members_same": spread([figures["members_same"] for figures in totals]),
        "callback_ms": mean("callback_ms"),
        "pause_error_ms": mean("pause_error_ms"),
        "pauses_percent": spread([figures["pauses_percent"] for figures in totals]),
        "events_percent": spread([figures["events_percent"] for figures in totals]),
    }


def told(limits: dict[str, Any]) -> str:
    """One line for people."""
    pauses, events = limits["pauses_percent"], limits["events_percent"]
    return (
        f"  chance allows {pauses[0]:.1f} % of pauses ({pauses[1]:.1f} to {pauses[2]:.1f} over "
        f"{limits['seeds']} seeds), "
        f"{events[0]:.1f} % of events ({events[1]:.1f} to {events[2]:.1f}), "
        f"callbacks {limits['callback_ms'][0]:.0f} and {limits['callback_ms'][1]:.0f} ms apart, "
        f"pauses {limits['pause_error_ms'][0]:.0f} ms off"
    )
