"""New partitions wait for a metadata refresh."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.remedy import Patch
from rebalsim.domain.timer import Timer


def propose(case: Case) -> Iterator[Patch | None]:
    unseen = any(
        phase.facts.timer is Timer.METADATA
        for phase in case.in_pause(PhaseKind.DETECTION, PhaseKind.NOTICE)
    )
    who = next(iter(case.people.values()), None)
    if unseen and who is not None and hasattr(who.config, "metadata_max_age_us"):
        for value in ("1m", "10s"):
            yield case.setting(who, "metadata.max.age.ms", value)
