"""Partitions that went to a member whose log is not at hand, or not for that time: half of the logs are
missing more often than not. An assignor gives every partition to somebody; what no log tells of is that
it was taken up, and not that it stood still until the logs end.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.pauses import Pause
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.voices import Voice

LATE_US = 5_000_000  # no listener is called so long after its member has its assignment
_COMES = (FactKind.BORN, FactKind.ADDED, FactKind.REPLACED)  # older brokers tell the first alone
_GOES = (FactKind.LEFT, FactKind.FAILED, FactKind.REMOVED, FactKind.UNBORN)
Span = tuple[int, int]


def end_with_the_unheard(
    pauses: Sequence[Pause],
    rounds: Sequence[Round],
    voices: Sequence[Voice],
    coordinator: Sequence[Fact],
) -> None:
    """What nobody whom the logs tell of has taken up, while there was somebody else, was his with the
    end of the rebalance that moved it.
    """
    spans = _unheard(voices, coordinator)
    if not spans:
        return
    ends = {r.generation: r.end_us for r in rounds if r.end_us >= 0}
    for pause in pauses:
        end = next((ends[g] for g in pause.generations if ends.get(g, -1) >= pause.start_us), -1)
        is_taken_up = 0 <= pause.end_us < end + LATE_US
        if end >= 0 and not is_taken_up and any(a <= end < b for a, b in spans):
            pause.end_us, pause.to = end, None


def _unheard(voices: Sequence[Voice], coordinator: Sequence[Fact]) -> list[Span]:
    """From when to when the group had a member whose log tells nothing."""
    heard = {i: first for v in voices if (first := _first_us(v)) >= 0 for i in v.ids}
    since: dict[str, int] = {}
    found: list[Span] = []
    for f in coordinator:
        if f.what in _COMES and f.member:
            since.setdefault(f.member, f.at_us)
        gone = f.other if f.what == FactKind.REPLACED else f.member if f.what in _GOES else ""
        if gone in since:
            found.append((since.pop(gone), min(f.at_us, heard.get(gone, f.at_us))))
    found += [(at, heard.get(member, 1 << 62)) for member, at in since.items()]
    return [(a, b) for a, b in found if b - a >= LATE_US]


def _first_us(voice: Voice) -> int:
    """The first that it says itself; −1 where it says nothing. That its process spoke says nothing of it."""
    return next((f.at_us for f in voice.facts if f.what != FactKind.SPOKE), -1)
