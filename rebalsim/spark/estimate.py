"""What a sweep would be, before it is begun: its points, how many of them the conditions leave,
some of them, and how long it should take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rebalsim.scenario.grid import first_points
from rebalsim.spark.player import Player
from rebalsim.spark.probe import Probe, probe

COUNTED = 200_000  # points up to which the conditions are asked one by one
START_S = 12.0  # Spark's start and its first query, embedded


@dataclass(frozen=True, slots=True)
class Estimate:
    """`points` meet the conditions (`is_exact`, or as many as a sample says)."""

    grid: int
    points: int
    is_exact: bool
    runs: int  # rows of the table `runs`: points × variants × seeds
    seeds: int
    probe: Probe
    seconds: float  # on so many cores
    cores: int
    impossible: int  # of the sample: points that cannot be
    sampled: int


def estimate(player: Player, cores: int, seconds: float = 20.0) -> Estimate:
    """Time a few runs and count."""
    plan = player.plan
    asked = plan.points if plan.points <= COUNTED else 5_000
    kept = sum(
        player.points.is_played(p)
        for p in (range(plan.points) if asked == plan.points else _spread(plan.points, asked))
    )
    points = kept if asked == plan.points else round(plan.points * kept / asked)
    measured = probe(player, seconds)
    sample = [p for p in first_points(plan.radices, 50) if player.points.is_played(p)]
    impossible = sum(not _can_be(player, p) for p in sample)
    share = points / plan.points * (1 - impossible / len(sample) if sample else 1)
    work = measured.order.total() * share
    return Estimate(
        plan.points,
        points,
        asked == plan.points,
        points * plan.seeds * measured.rows,
        plan.seeds,
        measured,
        START_S + work * 1.05 / max(1, cores),
        cores,
        impossible,
        len(sample),
    )


def _spread(size: int, count: int) -> Iterator[int]:
    """Places all over the grid that share no digit's period: steps by the golden section."""
    step = int(size * 0.6180339887498949) | 1
    for i in range(count):
        yield i * step % size


def _can_be(player: Player, point: int) -> bool:
    from rebalsim.domain.errors import InputError

    try:
        for variant in player.variants(point):
            player.scenario(point, variant)
    except InputError:
        return False
    return True


def sample_points(player: Player, count: int) -> list[tuple[int, dict[str, str], str]]:
    """Some points with their values, and what is wrong with them."""
    from rebalsim.domain.errors import InputError, ProblemsError

    found: list[tuple[int, dict[str, str], str]] = []
    for point in first_points(player.plan.radices, count):
        why = "" if player.points.is_played(point) else "dropped by where:"
        if not why:
            try:
                for variant in player.variants(point):
                    player.scenario(point, variant)
            except ProblemsError as e:
                why = e.problems[0].message
            except InputError as e:
                why = str(e)
        found.append((point, player.points.labels(point), why))
    return found
