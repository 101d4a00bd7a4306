"""What a script can do to the world: a file per kind of deed, which says in its CARRIED_OUT what it
carries out.

A deed is a generator: it acts when it begins, and is done when it returns (a bounce: when the
last pod is ready; a freeze: at the thaw).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Generator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World

Carried = Generator[Any, Any, None]


@cache
def _by_kind() -> dict[type, Callable[[Any, str, Any], Carried]]:
    found: dict[type, Callable[[Any, str, Any], Carried]] = {}
    for module in pkgutil.iter_modules(__path__):
        file = importlib.import_module(f"{__name__}.{module.name}")
        found.update(getattr(file, "CARRIED_OUT", {}))
    return found


def carry_out(world: World, name: str, deed: Any) -> Carried:
    """Do it; returns when it is done."""
    return _by_kind()[type(deed)](world, name, deed)
