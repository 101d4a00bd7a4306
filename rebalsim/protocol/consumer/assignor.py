"""What the coordinator asks when it computes a target: an assignor, passed in from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rebalsim.domain.server_target import ServerMember, Targets


class Assignor(Protocol):
    """The broker's assignor: topic id → partitions, and the members in the order in which they
    come into its map.
    """

    def __call__(
        self,
        topics: dict[str, int],
        members: Sequence[ServerMember],
        homogeneous: bool | None = None,
    ) -> Targets: ...
