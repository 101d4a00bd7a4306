"""What chance decides of a recording of Connect workers: the replay again under seeds, with the
machine's delays drawn as far apart as they were seen.

Where a heartbeat's phase decides which of two things comes first, a cluster goes one way or the
other. A replay that is drawn is such a cluster: the same drive, the same rules. How many of them
go the recording's way says whether a rule is missing, which none would make up for; and how well
the plain replay foretells them says how much of a recording any replay can find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rebalsim.simulation.world import play
from rebalsim.verify.connect_judge import ConnectJudgement, judge, judge_prediction, total
from rebalsim.verify.connect_prediction import prediction_of
from rebalsim.verify.connect_replay import scenario_of

SEEDS = 20


@dataclass(frozen=True, slots=True)
class Chance:
    """Of one recording: each seed's replay judged by the recording, and the plain one judged by
    each seed's.
    """

    judged: tuple[ConnectJudgement, ...]
    mirrored: tuple[ConnectJudgement, ...]


def drawn(document: Mapping[str, Any], seed: int, sources: set[str]) -> dict[str, Any]:
    """One replay whose delays are drawn."""
    scenario, drive = scenario_of(dict(document), is_drawn=True)
    trace = play(scenario, seed=seed, wire=True, drive=drive)
    return prediction_of(trace, sources, drive.twins)


def chance_of(
    document: Mapping[str, Any], plain: Mapping[str, Any], sources: set[str], seeds: int = SEEDS
) -> Chance:
    """All seeds of one recording."""
    plays = [drawn(document, seed, sources) for seed in range(1, seeds + 1)]
    return Chance(
        tuple(judge(document, one) for one in plays),
        tuple(judge_prediction(one, plain) for one in plays),
    )


def as_recorded(chance: Chance) -> dict[str, int]:
    """How many seeds have the recording's generations, and each worker's starts and stops."""
    judged = chance.judged
    found = {"generations": sum(one.generations[0] == one.generations[1] for one in judged)}
    for worker in sorted({w for one in judged for w in one.workers}):
        found[worker] = sum(worker not in one.differing for one in judged)
    return found


def say(chance: Chance) -> str:
    """One line for people."""
    counts = ", ".join(f"{what} {count}" for what, count in as_recorded(chance).items())
    return (
        f"of {len(chance.judged)} replays with the machine's delays drawn are as recorded: {counts}"
    )


def allowed(chances: Sequence[Chance]) -> dict[str, float]:
    """How well plain replays foretell drawn ones, over all recordings and seeds."""
    figures = [total(of_seed) for of_seed in zip(*(one.mirrored for one in chances))]
    workers = sum(f["workers"] for f in figures)
    pauses = sum(f["pauses"] for f in figures)
    return {
        "seeds": len(figures),
        "workers_percent": round(
            100 * sum(f["workers_same"] for f in figures) / max(1, workers), 1
        ),
        "pauses_percent": round(100 * sum(f["pauses_within"] for f in figures) / max(1, pauses), 1),
    }
