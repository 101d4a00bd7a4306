"""Who was in the group when a barrier fell, as far as its coordinator's lines tell."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.triggers import TriggerKind

_COMES = (FactKind.ADDED, FactKind.REPLACED, FactKind.UPDATED)
_GOES = (FactKind.LEFT, FactKind.FAILED, FactKind.REMOVED)


def roll_calls(rounds: Sequence[Round], coordinator: Sequence[Fact]) -> list[frozenset[str]]:
    """Of each round its members; nobody where the lines do not tell all of them, as when they begin in
    the middle of a group's life.
    """
    found: list[frozenset[str]] = []
    there: set[str] = set()
    place = 0
    for this in rounds:
        while place < len(coordinator) and coordinator[place].at_us <= this.joined_us:
            _note(there, coordinator[place], this.group)
            place += 1
        if this.trigger.kind == TriggerKind.JOIN:  # which older brokers tell only as the reason
            there.add(this.trigger.member)
        found.append(frozenset(there) if len(there) == this.members else frozenset())
    return found


def _note(there: set[str], f: Fact, group: str) -> None:
    if f.group not in ("", group):
        return
    if f.what in _GOES:
        there.discard(f.member)
    elif f.what == FactKind.REPLACED:
        there.discard(f.other)
    elif f.what == FactKind.EMPTY:
        there.clear()
    if f.what in _COMES and f.member and f.group == group:
        there.add(f.member)
