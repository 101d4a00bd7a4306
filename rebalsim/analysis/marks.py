"""What deserves a mark on the ruler: the script's actions, completed rebalances, brokers,
topics.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.analysis.index import Index
from rebalsim.analysis.values import Mark, Rebalance
from rebalsim.domain.mark_kind import MarkKind
from rebalsim.trace import events as ev


def find_marks(index: Index, rebalances: Sequence[Rebalance]) -> list[Mark]:
    """All marks in order of time."""
    marks: list[Mark] = []
    for n in index.world:
        e = index.events[n]
        if type(e) is ev.ScriptActed:
            marks.append(Mark(e.at_us, MarkKind.ACTION, e.text, e.action, e.kind, e.targets, "", n))
        elif type(e) is ev.TopicChanged:
            text = (
                f"{e.topic} has {e.partitions} partitions"
                if e.partitions
                else f"{e.topic} is deleted"
            )
            marks.append(Mark(e.at_us, MarkKind.TOPIC, text, "", "", (e.topic,), "", n))
        else:
            text = f"broker {e.broker} is {'up' if e.is_up else 'down'}" + (
                f" with Kafka {e.kafka}" if e.kafka else ""
            )
            marks.append(
                Mark(e.at_us, MarkKind.BROKER, text, "", "", (f"broker-{e.broker}",), "", n)
            )
    for group, numbers in sorted(index.by_group.items()):
        for n in numbers:
            e = index.events[n]
            if type(e) is ev.CoordinatorMoved and not e.is_loaded:
                marks.append(
                    Mark(
                        e.at_us,
                        MarkKind.BROKER,
                        f"the coordinator of {group} moves to broker {e.broker}",
                        "",
                        "",
                        (f"broker-{e.broker}",),
                        group,
                        n,
                    )
                )
    for r in rebalances:
        marks.append(
            Mark(
                max(r.barrier_us, 0),
                MarkKind.REBALANCE,
                f"{r.counter} {r.generation}",
                "",
                "",
                (),
                r.group,
                r.evidence[-1] if r.evidence else -1,
            )
        )
    return sorted(marks, key=lambda m: (m.at_us, m.event))
