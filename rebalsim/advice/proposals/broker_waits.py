"""The brokers wait between two assignments of the consumer protocol."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.remedy import Patch


def propose(case: Case) -> Iterator[Patch | None]:
    if any(case.in_pause(PhaseKind.INTERVAL)):
        yield case.brokers("group.consumer.assignment.interval.ms", "0s")
