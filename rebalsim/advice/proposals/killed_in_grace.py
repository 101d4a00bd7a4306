"""Processes that are killed before they have closed never say that they leave: more grace."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case, nice_above
from rebalsim.domain.remedy import Patch
from rebalsim.lint.figures import high
from rebalsim.scenario.quantities import say_us


def propose(case: Case) -> Iterator[Patch | None]:
    who = case.blamed
    if who is None or case.pause is None:
        return
    needed = high(who.life.stop)
    if needed >= who.life.grace_us:
        longer = nice_above(1.5 * needed)
        patch = case.group_key(who, "life.grace", say_us(who.life.grace_us), say_us(longer))
        yield Patch(patch.turns, patch.sets, script="processes are given longer to stop")
