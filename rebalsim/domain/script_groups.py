"""Whose members an action of the script concerns."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.domain.scenario import Group
from rebalsim.domain.script import Action


def groups_of(action: Action, groups: Sequence[Group]) -> frozenset[str]:
    """The names of the groups; empty for what concerns none (topics, brokers)."""
    deed = action.deed
    owners = {spec.name: group.name for group in groups for spec in group.consumers}
    found = {getattr(deed, "group", "") or (action.when.group if action.when else "")}
    for field in ("consumers", "joiners", "surge_consumers"):
        for spec in getattr(deed, field, ()):
            found.add(owners.get(spec, "") if isinstance(spec, str) else spec.group)
    return frozenset(found - {""})
