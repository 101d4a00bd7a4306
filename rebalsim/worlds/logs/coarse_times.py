"""Times that a log tells in whole seconds, placed within their second where the protocol has them."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.worlds.logs.facts import GIVEN_UP, FactKind
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.voices import Voice

COARSE_US = 1_000_000


def is_coarse(voice: Voice) -> bool:
    """Whether its log tells whole seconds."""
    return voice.stream.step_us >= COARSE_US


def refine_times(voices: Sequence[Voice], rounds: Sequence[Round]) -> None:
    """A listener is given partitions after the assignment, and gives them up before the barrier falls."""
    for voice in voices:
        if not is_coarse(voice):
            continue
        step = voice.stream.step_us
        for f in voice.facts:
            if f.what == FactKind.ASSIGNED:
                f.at_us = _after(f.at_us, step, [r.end_us for r in rounds if r.end_us >= 0])
            elif f.what in GIVEN_UP:
                f.at_us = _before(f.at_us, step, [r.joined_us for r in rounds if r.joined_us >= 0])


def _after(at: int, step: int, instants: Sequence[int]) -> int:
    """In its second, not before the event of that second."""
    return max([at, *(i + 1 for i in instants if at - step // 4 <= i < at + step)])


def _before(at: int, step: int, instants: Sequence[int]) -> int:
    """In the middle of its second, but before the event of that second."""
    within = [i - 1 for i in instants if at <= i < at + step]
    return min([at + step // 2, *within])
