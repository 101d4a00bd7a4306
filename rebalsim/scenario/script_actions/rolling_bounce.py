"""Members are restarted a few at a time."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import RollingBounce
from rebalsim.scenario.action_words import for_, say_names
from rebalsim.scenario.common_language import word_of
from rebalsim.scenario.kinds import Section, Written
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.rolling import roll
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import BOUNCE_FIELDS

SECTION = Section(
    "rolling_bounce",
    BOUNCE_FIELDS,
    "Restart the members a few at a time.",
    shorthand=word_of("members"),
    allows_nothing=True,
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    return roll(script, written, line, None)


def say(deed: RollingBounce) -> str:
    if not deed.consumers:
        return "OnDelete: an apply restarts nothing; each pod changes with its next restart"
    text = ("deploy to " if deed.deploy.consumers else "rolling bounce of ") + say_names(
        deed.consumers
    )
    if deed.surge_consumers:
        text += f", replaced by {say_names([c.name for c in deed.surge_consumers])}"
    parts = [f"{deed.max_unavailable} at a time"]
    if deed.surge:
        parts.append(f"surge {deed.surge}")
    if deed.down is not None:
        parts.append(f"away{for_(deed.down)}")
    if deed.ready_after_us:
        parts.append(f"ready {say_us(deed.ready_after_us)} after start")
    if deed.ready_when_assigned:
        parts.append("ready when assigned")
    if deed.settle_us:
        parts.append(f"{say_us(deed.settle_us)} between")
    return f"{text}: {', '.join(parts)}"


ACTION = ScriptAction("rolling_bounce", SECTION, read, {RollingBounce: say}, is_of_streams=True)
