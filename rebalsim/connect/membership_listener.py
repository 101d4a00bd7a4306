"""Whom a worker's membership tells: its herder, on whose thread it runs."""

from __future__ import annotations

from rebalsim.assignors.connect.work import Work
from rebalsim.connect.claims import Assigned, Given
from rebalsim.connect.port import Steps


class Ears:
    """Whom the membership tells: the herder."""

    is_stopping = False  # the process was asked to end

    def revoked(self, work: Work) -> Steps:
        """Stop this, and return when it has stopped."""
        raise NotImplementedError

    def assigned(self, assigned: Assigned, given: Given, generation: int) -> None:
        """A round's answer was taken over."""
        raise NotImplementedError
