"""A deploy in another manner: fewer or more pods at once, time to settle in between, replacements
that start before the old ones stop.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case
from rebalsim.domain.remedy import Patch
from rebalsim.domain.script import Action, RollingBounce

SETTLE_US = 10_000_000


def propose(case: Case) -> Iterator[Patch | None]:
    for action in case.scenario.script:
        if isinstance(action.deed, RollingBounce) and _concerns(case, action):
            yield from _paces(case, action, action.deed)


def _concerns(case: Case, action: Action) -> bool:
    """Only what the deploy itself set off: that it comes by when something else happens is luck."""
    if case.pause is None or not case.pause.cause.action:
        return False
    said = case.pause.cause.action
    return said == action.id or (not action.id and said.startswith(("rolling-bounce", "deploy")))


def _paces(case: Case, action: Action, deed: RollingBounce) -> Iterator[Patch | None]:
    at_once = deed.max_unavailable
    if at_once > 1:
        yield case.in_script(
            action.line, "max_unavailable", str(at_once), "1", "the deploy restarts one at a time"
        )
    elif len(deed.consumers) >= 4:
        more = len(deed.consumers) // 4
        yield case.in_script(
            action.line,
            "max_unavailable",
            "1",
            str(max(2, more)),
            "the deploy restarts more at once",
        )
    if deed.surge_consumers and not deed.surge:
        yield case.in_script(
            action.line, "surge", "0", "1", "replacements start before the old ones stop"
        )
    if not deed.ready_when_assigned:
        yield case.in_script(
            action.line,
            "ready_when",
            "started",
            "assigned",
            "the deploy goes on when a pod has its partitions",
        )
    if deed.settle_us < SETTLE_US:
        yield case.in_script(
            action.line,
            "settle",
            f"{deed.settle_us // 1_000_000}s",
            "10s",
            "the deploy waits in between",
        )
