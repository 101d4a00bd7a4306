"""A fact as a text, for tables and bookmarks, and back."""

from __future__ import annotations

import json
from typing import Any

from rebalsim.worlds.logs.facts import Fact, FactKind


def packed(f: Fact) -> str:
    """A fact as a list of its fields, in their order, without those at the end that are empty."""
    told = [
        f.at_us,
        f.what.value,
        f.group,
        f.client,
        f.member,
        f.generation,
        f.partitions,
        f.why,
        f.other,
        f.instance,
        f.thread,
        f.plan,
        f.amount,
    ]
    if f.is_second_hand:
        return _encoded([*told, True])
    while told[-1] in _EMPTY:
        told.pop()
    return _encoded(told)


def unpacked(told: str) -> Fact:
    """The fact again."""
    fact = Fact(*json.loads(told))
    fact.what, fact.partitions = FactKind(fact.what), tuple(fact.partitions)
    if fact.plan:
        fact.plan = {who: tuple(partitions) for who, partitions in fact.plan.items()}
    return fact


_encoded = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_EMPTY: tuple[Any, ...] = ("", -1, (), None)
