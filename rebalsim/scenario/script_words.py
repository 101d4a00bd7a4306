"""The script in words: what an action does, and when. For timetables, marks and traces."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Action, RandomFault
from rebalsim.scenario.action_words import for_, say_names
from rebalsim.scenario.kinds import say_draw
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.script_action import actions_by_deed


def say_deed(deed: Deed) -> str:
    """What it does, in a few words."""
    action = actions_by_deed().get(type(deed))
    return action.says[type(deed)](deed) if action is not None else type(deed).__name__


def say_when(action: Action) -> str:
    """`1m`, `after bounce + 10s`, `when group is stable`; with its repeats."""
    parts = []
    if action.after is not None:
        parts.append(
            f"after {action.after}" + (f" + {say_us(action.at_us)}" if action.at_us else "")
        )
    elif action.when is None or action.at_us:
        parts.append(say_us(action.at_us))
    if action.when is not None:
        parts.append(
            f"when {action.when.group} is {action.when.is_}"
            + (f" for {say_us(action.when.for_us)}" if action.when.for_us else "")
        )
    if action.jitter_us:
        parts.append(f"+ up to {say_us(action.jitter_us)}")
    if action.every_us is not None and action.times > 1:
        parts.append(f"every {say_us(action.every_us)}, {action.times} times")
    return ", ".join(parts)


def say_fault(fault: RandomFault) -> str:
    text = {
        "crash": "crash",
        "freeze": "freeze",
        "hang": "handler hangs",
        "cut": "cut off from the coordinator",
    }[fault.kind]
    window = (f" from {say_us(fault.from_us)}" if fault.from_us else "") + (
        f" until {say_us(fault.until_us)}" if fault.until_us is not None else ""
    )
    back = f", back after {say_draw(fault.for_)}" if fault.kind == "crash" else for_(fault.for_)
    return (
        f"{text}: {say_names(fault.consumers)}, each about every "
        f"{say_us(fault.mean_between_us)}{back}{window}"
    )
