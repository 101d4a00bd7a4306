"""How large a change is: how far it turns each setting, and what it makes worse, in factors of two.
The smallest of those that keep all budgets is taken, wherever one is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from rebalsim.advice.case import us_of
from rebalsim.advice.judging import factor
from rebalsim.domain.remedy import Patch

UNMEASURED = 3.0  # how far a change turns that is no number: a script's pace, a static id
OTHER_PROTOCOL = 4.0


def follows_another(setting: str) -> bool:
    return setting.startswith("group.consumer.min.")


def size_of(patch: Patch) -> float:
    """How far it turns what it turns."""
    turned = sum(
        turned_by(t.before, t.after) for t in patch.turns if not follows_another(t.setting)
    )
    return turned + (OTHER_PROTOCOL if patch.variant else 0.0)


def cost_of_change(
    patch: Patch, before: Mapping[str, float], after: Mapping[str, float], price: Iterable[str]
) -> float:
    """Its size, and how many times as much there is of what it makes worse."""
    return size_of(patch) + sum(
        math.log2(factor(name, after[name], before[name])) for name in price
    )


def turned_by(before: str, after: str) -> float:
    """How far from the one value to the other."""
    values = []
    for text in (before, after):
        us = us_of(text)
        if not us:
            try:
                us = int(float(text))
            except ValueError:
                return UNMEASURED
        values.append(us)
    if min(values) <= 0:
        return UNMEASURED
    return abs(math.log2(values[1] / values[0]))
