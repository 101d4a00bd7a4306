"""How many members ran when, where autoscalers changed that: steps of instant and count."""

from __future__ import annotations

from rebalsim.analysis.findings import Findings
from rebalsim.domain.autoscaling import Autoscale
from rebalsim.trace.events import ConsumerExited, ConsumerStarted, ScriptActed

Steps = list[tuple[int, int]]


def running(a: Findings) -> Steps:
    """Empty where nothing scales: then the script's row tells who comes and goes."""
    steps: Steps = []
    count, scales = 0, False
    for event in a.told():
        kind = type(event)
        if kind is ConsumerStarted:
            count += 1
        elif kind is ConsumerExited:
            count -= 1
        else:
            scales = scales or (isinstance(event, ScriptActed) and event.kind == Autoscale.__name__)
            continue
        if steps and steps[-1][0] == event.at_us:
            steps[-1] = (event.at_us, count)
        else:
            steps.append((event.at_us, count))
    return steps if scales else []


def at(steps: Steps, instant_us: int) -> int:
    """The count that held at an instant."""
    held = 0
    for at_us, count in steps:
        if at_us > instant_us:
            break
        held = count
    return held
