"""A rolling bounce after which the members have new settings."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.scenario.kinds import Section, Written
from rebalsim.scenario.member_language import (
    TEMPLATE_FIELDS,
    TEMPLATE_KEYS,
    one_subscription,
    under_config,
)
from rebalsim.scenario.rolling import roll
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import BOUNCE_FIELDS, STREAMS_SETTINGS, WORKER_SETTINGS

SECTION = Section(
    "deploy",
    (*BOUNCE_FIELDS, *TEMPLATE_FIELDS, WORKER_SETTINGS, STREAMS_SETTINGS),
    "A rolling bounce after which the members have new settings.",
    elsewhere=under_config,
    after=one_subscription,
    can_unset=TEMPLATE_KEYS,
)


# of them one at least is new, or taken back
_SETTINGS = [field.name for field in (*TEMPLATE_FIELDS, WORKER_SETTINGS, STREAMS_SETTINGS)]


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    if not any(name in written or name in written.unset for name in _SETTINGS):
        script.out.add(
            written.node,
            "What is deployed is not said — add config: {…}, or write rolling_bounce for a "
            "restart alone",
        )
    return roll(script, written, line, written)


ACTION = ScriptAction("deploy", SECTION, read)
