"""A prediction of a Streams application held against its recording: what stood still and for how
long, which task ran where, the states, and who was given what.

A pause of a partition runs from the last record handled before it to the first one after it.
Which of the tasks that move together is restored first is chance in Kafka, so pauses that begin
within 300 ms of each other and end at one instance are held against each other by length.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Document = dict[str, Any]
Prediction = dict[str, Any]

SHORTEST_MS = 300  # records come every 100 ms: a shorter gap is told from none by nobody
TOGETHER_MS = 300


@dataclass(slots=True)
class Gap:
    """A stretch between two records of a partition while more were waiting."""

    partition: str
    start: float
    end: float
    by: str  # the instance that handled the next record
    ours: float = 0.0

    @property
    def length(self) -> float:
        return self.end - self.start

    @property
    def off(self) -> float:
        return abs(self.length - self.ours)

    @property
    def is_right(self) -> bool:
        return self.off <= max(100.0, 0.05 * max(self.length, self.ours))


@dataclass(slots=True)
class StreamsJudgement:
    """One recording's."""

    name: str
    gaps: list[Gap]
    same_moves: bool
    states: tuple[int, int] = (0, 0)  # instances whose states are the same, of how many
    assignments: tuple[int, int] = (0, 0)
    rounds: tuple[int, int] = (0, 0)  # the highest generation or epoch: theirs, ours
    differing: list[str] = field(default_factory=list)

    @property
    def within(self) -> int:
        return sum(gap.is_right for gap in self.gaps)


def judge(document: Document, prediction: Prediction) -> StreamsJudgement:
    """Pauses and moves of one recording."""
    handled = _handled(document)
    gaps = _observed(handled)
    left = _relevant(handled, prediction)
    for gap in gaps:
        best = max(left.get(gap.partition, []), key=lambda mine: _overlap(gap, mine), default=None)
        if best is not None and _overlap(gap, best) > 0:
            gap.ours = best[1] - best[0]
            best[2] = 1.0
    _pair_by_length(gaps)
    gaps += _never_were(handled, left)
    real, mine = _moves(_running(document)), _moves(prediction["running"])
    same = [move[:2] for move in real] == [move[:2] for move in mine]
    return StreamsJudgement(str(document.get("name", "")), gaps, same)


def total(results: Sequence[StreamsJudgement]) -> dict[str, Any]:
    """The figures of several recordings together: shares weigh recordings alike, errors pool."""
    errors = sorted(gap.off for result in results for gap in result.gaps)
    shares = [100 * r.within / len(r.gaps) for r in results if r.gaps]

    def at(share: float) -> float:
        return errors[min(len(errors) - 1, int(len(errors) * share))] if errors else 0

    return {
        "recordings": len(results),
        "pauses": sum(len(result.gaps) for result in results),
        "within": sum(result.within for result in results),
        "percent_mean_of_recordings": (round(sum(shares) / len(shares), 1) if shares else 100.0),
        "error_ms_p50_p95": [round(at(0.5), 1), round(at(0.95), 1)],
        "same_moves": sum(result.same_moves for result in results),
        "states_same": sum(result.states[0] for result in results),
        "instances": sum(result.states[1] for result in results),
        "assignments_same": sum(result.assignments[0] for result in results),
        "threads": sum(result.assignments[1] for result in results),
        "rounds_same": sum(result.rounds[0] == result.rounds[1] for result in results),
    }


def _handled(document: Document) -> dict[str, list[tuple[float, float, float, str]]]:
    """By partition: each run of records with its first and last moment, the first one's age, and
    who handled it.
    """
    runs: dict[str, list[tuple[float, float, float, str]]] = {}
    for event in document["events"]:
        if event["ev"] == "records":
            for partition, told in event["n"].items():
                run = (event["t"], event["t"] + told[3], told[2], event["member"])
                runs.setdefault(partition, []).append(run)
    return {partition: sorted(told) for partition, told in sorted(runs.items())}


def _observed(handled: dict[str, list[tuple[float, float, float, str]]]) -> list[Gap]:
    """Gaps in which the next record waited; the time before a partition's first is none."""
    gaps = []
    for partition, runs in handled.items():
        last = runs[0][1]
        for first, end, age, who in runs[1:]:
            gap = first - last
            if gap > SHORTEST_MS and age > gap - SHORTEST_MS:
                gaps.append(Gap(partition, last, first, who))
            last = max(last, end)
    return gaps


def _relevant(
    handled: dict[str, list[tuple[float, float, float, str]]], prediction: Prediction
) -> dict[str, list[list[float]]]:
    """Our pauses while the partition was handled at all: start, end, and whether one was met."""
    ours: dict[str, list[list[float]]] = {}
    for pause in prediction["pauses"]:
        runs = handled.get(pause["partition"])
        if runs and pause["end"] > runs[0][0] and pause["start"] < runs[-1][1]:
            entry = [float(pause["start"]), float(pause["end"]), 0.0]
            ours.setdefault(pause["partition"], []).append(entry)
    return ours


def _overlap(gap: Gap, mine: list[float]) -> float:
    return min(gap.end, mine[1]) - max(gap.start, mine[0])


def _pair_by_length(gaps: list[Gap]) -> None:
    left = sorted(gaps, key=lambda gap: gap.start)
    while left:
        first = left[0]
        together = [g for g in left if g.by == first.by and g.start - first.start < TOGETHER_MS]
        left = [gap for gap in left if gap not in together]
        lengths = sorted(gap.ours for gap in together)
        for gap, ours in zip(sorted(together, key=lambda gap: gap.length), lengths):
            gap.ours = ours


def _never_were(
    handled: dict[str, list[tuple[float, float, float, str]]],
    ours: dict[str, list[list[float]]],
) -> list[Gap]:
    """Pauses that we predicted and that met none of the recording's; each is held against the
    longest recorded gap of that time.
    """
    extra = []
    for partition, pauses in ours.items():
        runs = handled[partition]
        for start, end, met in pauses:
            if met or end - start <= SHORTEST_MS:
                continue
            longest = max(
                (
                    later[0] - earlier[1]
                    for earlier, later in itertools.pairwise(runs)
                    if later[0] > start and earlier[1] < end
                ),
                default=0.0,
            )
            extra.append(Gap(partition, start, start + longest, "", end - start))
    return extra


def _running(document: Document) -> list[dict[str, Any]]:
    return [
        {"t": event["t"], "member": event["member"], "task": event["task"]}
        for event in document["events"]
        if event["ev"] == "task" and str(event.get("what", "")).startswith("Restored and ready")
    ]


def _moves(running: Sequence[dict[str, Any]]) -> list[tuple[str, str, float]]:
    return sorted((each["member"], each["task"], each["t"]) for each in running)
