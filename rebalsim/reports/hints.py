"""What a pause hangs on: one sentence, from its longest phase and the settings in force.

What a phase hangs on is on its card; here is only what holds whatever the phase.
"""

from __future__ import annotations

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Pause
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.connect_hints import hint_of_connect
from rebalsim.reports.phases.card import cards
from rebalsim.reports.settings_behind import Asked, outlasted, session

_OF_NO_SETTING = (Doing.NO_COORDINATOR, Doing.RECONNECTING)
_OF_THE_DEAD = (Doing.DEAD_LEADER, Doing.DEAD_OWNER)


def hint_on(pause: Pause, analysis: Analysis) -> str:
    """Which setting the longest phase hangs on, and its value here; empty where none does."""
    phase, header = max(pause.phases, key=lambda p: p.length_us), analysis.header
    whose = (
        header.consumers.get(phase.facts.consumer)
        or header.consumers.get(pause.owner_before)
        or header.consumers.get(pause.owner_after)
    )
    settings = whose.at(phase.started_us) if whose is not None else None
    asked = Asked(phase, pause, analysis, settings)
    if (
        pause.cause.kind is CauseKind.POLL_INTERVAL_EXCEEDED
        and phase.kind is not PhaseKind.STUCK
        and asked.doing not in (Doing.STUCK, Doing.FROZEN)
    ):
        blamed = header.consumers.get(pause.cause.consumer)
        return outlasted(blamed.at(pause.started_us) if blamed is not None else None)
    if told := hint_of_connect(asked):
        return told
    if asked.doing in _OF_NO_SETTING:
        return ""
    return session(settings) if asked.doing in _OF_THE_DEAD else cards()[phase.kind].hint(asked)
