"""Words with which actions of the script are told."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.domain.draws import Draw
from rebalsim.scenario.kinds import say_draw
from rebalsim.scenario.quantities import say_us
from rebalsim.words.lists import first_to_last, verb


def say_names(names: Sequence[str]) -> str:
    """`c0, c1 and c2`, or `c0 … c11` where they are many."""
    return first_to_last(names, 4)


def who_does(names: Sequence[str], one: str, many: str) -> str:
    """`c0 leaves`, `c0 and c1 leave`."""
    return f"{say_names(names)} {verb(names, one, many)}"


def for_(draw: Draw) -> str:
    """` for 30s`."""
    return f" for {say_draw(draw)}"


def say_broker(broker: int | None, group: str) -> str:
    """`broker 2`, or whichever coordinates the group."""
    return f"the coordinator of {group}" if broker is None else f"broker {broker}"


def apart(us: int) -> str:
    """`, 5s apart`; nothing where all come at once."""
    return f", {say_us(us)} apart" if us else ""
