"""What deserves a mark on the ruler: the script's actions, completed rebalances, brokers,
topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Mark, Rebalance
from rebalsim.domain.mark_kind import MarkKind
from rebalsim.trace import events as ev


def find_marks(index: Index, rebalances: Sequence[Rebalance]) -> list[Mark]:
    """All marks in order of time."""
    marks = [_of_world(index.events[n], n) for n in index.world]
    for group, numbers in sorted(index.by_group.items()):
        for n in numbers:
            e = index.events[n]
            if type(e) is ev.CoordinatorMoved and not e.is_loaded:
                text = f"the coordinator of {group} moves to broker {e.broker}"
                marks.append(_of_broker(e, text, n, group))
    marks += [
        Mark(
            max(r.barrier_us, 0),
            MarkKind.REBALANCE,
            f"{r.counter} {r.generation}",
            group=r.group,
            event=r.evidence[-1] if r.evidence else -1,
        )
        for r in rebalances
    ]
    return sorted(marks, key=lambda m: (m.at_us, m.event))


def _of_world(e: Any, number: int) -> Mark:
    """An action of the script, or what became of a topic or a broker."""
    if type(e) is ev.ScriptActed:
        return Mark(e.at_us, MarkKind.ACTION, e.text, e.action, e.kind, e.targets, event=number)
    if type(e) is ev.TopicChanged:
        now = f"has {e.partitions} partitions" if e.partitions else "is deleted"
        text = f"{e.topic} {now}"
        return Mark(e.at_us, MarkKind.TOPIC, text, targets=(e.topic,), event=number)
    text = f"broker {e.broker} is {'up' if e.is_up else 'down'}"
    return _of_broker(e, text + (f" with Kafka {e.kafka}" if e.kafka else ""), number)


def _of_broker(e: Any, text: str, number: int, group: str = "") -> Mark:
    targets = (f"broker-{e.broker}",)
    return Mark(e.at_us, MarkKind.BROKER, text, targets=targets, group=group, event=number)
