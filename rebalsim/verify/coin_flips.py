"""Where a recording hangs on a few milliseconds: the replay again under seeds of small jitter,
and how many of them go its way.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from rebalsim.simulation.world import play
from rebalsim.verify.chance import as_recorded
from rebalsim.verify.judge import TOGETHER_MS, Judgement, judge
from rebalsim.verify.prediction import prediction_of
from rebalsim.verify.replay import scenario_of

SEEDS = 20


@dataclass(slots=True)
class Flip:
    """A pause or a member's callbacks that come out as recorded under some seeds only."""

    what: str
    right: int
    seeds: int

    def __str__(self) -> str:
        return f"{self.what}: as recorded under {self.right} of {self.seeds} seeds"


def replays(
    document: dict[str, Any], plain: dict[str, Any], seeds: int = SEEDS
) -> tuple[list[Judgement], list[Judgement]]:
    """The recording replayed under each seed of jitter: that judged, and the plain prediction
    judged as if that had been recorded.
    """
    judged, mirrored = [], []
    for seed in range(1, seeds + 1):
        scenario, drive = scenario_of(document, is_jittered=True)
        trace = play(scenario, seed=seed, wire=True, drive=drive)
        judged.append(judge(document, prediction_of(trace)))
        mirrored.append(judge(as_recorded(trace, document), plain))
    return judged, mirrored


def flips(plain: Judgement, judged: list[Judgement]) -> list[Flip]:
    """What the seeds do not agree on; and what the replay without jitter gets wrong, with the
    share of seeds that get it right.
    """
    seeds = len(judged)
    found: list[Flip] = []
    generations = sum(result.generations[0] == result.generations[1] for result in judged)
    if generations < seeds:
        found.append(Flip("generations", generations, seeds))
    members = {*plain.differing, *(member for result in judged for member in result.differing)}
    for member in sorted(members):
        right = seeds - sum(member in result.differing for result in judged)
        found.append(Flip(f"callbacks of {member}", right, seeds))
    for at, count, partitions in _pauses_together(plain, judged):
        found.append(Flip(f"pause of {', '.join(partitions)} from {at / 1000:.1f} s", count, seeds))
    return found


def _pauses_together(
    plain: Judgement, judged: list[Judgement]
) -> list[tuple[float, int, list[str]]]:
    """Pauses that not every seed gets right, with how many do; those that begin together and fare
    alike are told together.
    """
    told = {(pause.what, pause.start) for pause in plain.pauses}
    for result in judged:  # what only some replays have is no pause of the recording
        told &= {(pause.what, pause.start) for pause in result.pauses}
    right: Counter[tuple[float, str]] = Counter()
    for pause in (pause for result in judged for pause in result.pauses):
        if (pause.what, pause.start) in told:
            right[pause.start, pause.what] += pause.is_right
    wrong = {(p.start, p.what) for p in plain.pauses if p.real and not p.is_right}
    together: list[tuple[float, int, list[str]]] = []
    for (start, partition), count in sorted(right.items()):
        if count == len(judged) and (start, partition) not in wrong:
            continue
        for at, fares, partitions in together:
            if start - at < TOGETHER_MS and fares == count:
                partitions.append(partition)
                break
        else:
            together.append((start, count, [partition]))
    return together
