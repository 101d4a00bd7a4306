"""What a leader's incremental cooperative assignor remembers from one round to the next.

Every worker has one, and it is used only while that worker leads: hence a new leader knows of no
lost work and waits for nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rebalsim.assignors.connect.work import NO_WORK, Work


@dataclass(frozen=True, slots=True)
class Memory:
    previous: Work = NO_WORK  # what should be running after the last round, whoever runs it
    previous_revocation: Work = NO_WORK
    previous_generation: int = -1
    previous_members: frozenset[str] = frozenset()
    delay_ms: int = 0
    scheduled_ms: int = 0  # when the delay ends, by the leader's clock; 0: none runs
    candidates: tuple[str, ...] = ()  # idle workers that get the lost work when the delay ends
    revoked_in_previous: bool = False
    successive_revocations: int = 0

    def without_delay(self) -> Memory:
        return replace(self, candidates=(), scheduled_ms=0, delay_ms=0)


NOTHING_REMEMBERED = Memory()
