"""Where a recording hangs on a few milliseconds: the replay again under seeds of small jitter,
and how many of them go its way.
"""

from __future__ import annotations

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
    differing: dict[str, int] = dict.fromkeys(plain.differing, 0)
    for result in judged:
        for member in result.differing:
            differing[member] = differing.get(member, 0) + 1
    for member in sorted(differing):
        found.append(
            Flip(
                f"callbacks of {member}",
                seeds - sum(member in result.differing for result in judged),
                seeds,
            )
        )
    told = {(pause.partition, pause.start) for pause in plain.pauses}
    for result in judged:  # what only some replays have is no pause of the recording
        told &= {(pause.partition, pause.start) for pause in result.pauses}
    right: dict[tuple[str, float], int] = {}
    for result in judged:
        for pause in result.pauses:
            if (pause.partition, pause.start) in told:
                right[pause.partition, pause.start] = (
                    right.get((pause.partition, pause.start), 0) + pause.is_right
                )
    wrong = {
        (pause.partition, pause.start)
        for pause in plain.pauses
        if pause.real and not pause.is_right
    }
    together: list[
        tuple[float, int, list[str]]
    ] = []  # pauses that begin together and fare alike are told together
    for (partition, start), count in sorted(
        right.items(), key=lambda entry: (entry[0][1], entry[0][0])
    ):
        if count == seeds and (partition, start) not in wrong:
            continue
        for at, fares, partitions in together:
            if start - at < TOGETHER_MS and fares == count:
                partitions.append(partition)
                break
        else:
            together.append((start, count, [partition]))
    for at, count, partitions in together:
        found.append(Flip(f"pause of {', '.join(partitions)} from {at / 1000:.1f} s", count, seeds))
    return found
