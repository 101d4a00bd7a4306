"""What belongs to a phase, and the table of all cards."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from rebalsim.analysis.values import Facts
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports import phases
from rebalsim.reports.settings_behind import Asked


@dataclass(frozen=True, slots=True)
class Look:
    """How it is drawn: a letter and a filling (right without colour), and colours for terminals
    and for light and dark pages.

    Capital letters stand for the waits that get long, small ones for the steps that are usually
    short. Nobody knows: full blocks. Waiting for the group: half shades. Work that has to be done:
    light shades. On a page these are plain, striped and ruled, and within each of the three
    the colours are told apart by the colour-blind as well.
    """

    letter: str
    fill: str  # the rest of its run in a terminal
    style: str  # rich's
    light: str  # on a light page
    dark: str  # on a dark page


@dataclass(frozen=True, slots=True)
class PhaseCard:
    """A phase: how it looks, what `rebalsim explain` and a page say of it, and its sentences."""

    kind: PhaseKind
    look: Look
    title: str
    what: str
    why: str
    shows: str  # the trace events that begin and end it
    change: str  # what shortens it
    tell: Callable[[Facts, str], str]  # what was waited for: the facts, and whom
    hint: Callable[[Asked], str] = lambda asked: ""  # which setting it hangs on here
    # the same of several partitions that went to several members, or came from several
    of_next_owners: Callable[[Facts], str] | None = None
    of_last_owners: Callable[[Facts], str] | None = None
    label: str = ""  # in a legend, where its name alone does not tell
    is_of_tasks: bool = False  # Connect's tasks go through it, partitions do not


@cache
def cards() -> dict[PhaseKind, PhaseCard]:
    """The card of every phase, in the order in which phases usually happen."""
    found: dict[PhaseKind, PhaseCard] = {}
    for module in pkgutil.iter_modules(phases.__path__):
        card = getattr(importlib.import_module(f"{phases.__name__}.{module.name}"), "CARD", None)
        if isinstance(card, PhaseCard):
            found[card.kind] = card
    return {kind: found[kind] for kind in PhaseKind}
