"""The coordinator of a group of workers: the classic one, to which what its members say of
themselves is opaque. Only its measuring of consumers' subscriptions is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rebalsim.protocol.classic_group import ClassicGroup
from rebalsim.protocol.effects import Effect
from rebalsim.simulation.coordinator import Coordinator


class WorkersCoordinator(Coordinator):
    """Of one Connect cluster."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        _measure_nothing(self.group)

    def _load(self, now: int) -> list[Effect]:
        effects = super()._load(now)
        _measure_nothing(self.group)
        return effects


def _measure_nothing(group: ClassicGroup) -> None:
    group.rules = replace(
        group.rules, metadata_bytes=None, assignment_bytes=None, members_bytes_at_most=None
    )
