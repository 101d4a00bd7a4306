"""Measures of autoscalers: how often they changed the number of members, and how often they turned."""

from __future__ import annotations

import re
from itertools import pairwise

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.selecting import Measure
from rebalsim.domain.autoscaling import Autoscale
from rebalsim.domain.metrics import Selection
from rebalsim.trace.events import ScriptActed

_SCALED = re.compile(r"scale (\d+) to (\d+)")


def scalings(a: Findings, s: Selection) -> list[int]:
    """By how many members autoscalers changed the group, change by change."""
    found = []
    for event in a.told():
        if type(event) is not ScriptActed or event.kind != Autoscale.__name__:
            continue
        if (s.from_us is not None and event.at_us < s.from_us) or (
            s.until_us is not None and event.at_us >= s.until_us
        ):
            continue
        if s.action and event.action != s.action:
            continue
        if said := _SCALED.match(event.text):
            found.append(int(said[2]) - int(said[1]))
    return found


def _turns(a: Findings, s: Selection) -> int:
    return sum(1 for before, after in pairwise(scalings(a, s)) if (before > 0) != (after > 0))


MEASURES: dict[str, Measure] = {
    "scalings": lambda a, s: len(scalings(a, s)),
    "oscillates": _turns,
}
